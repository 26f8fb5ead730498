import { describe, expect, test } from 'vitest'

import { denyRules } from '../../src/core/deny-rules.ts'
import { PosthornError } from '../../src/errors.ts'

const guard = denyRules({ deny: ['@default'], allow: [] })

/** What a url with this host comes to: the group that denies it, `public`, or `name` when its addresses decide. */
function verdict(host: string): string {
  const url = URL.canParse(`http://${host}/`) ? new URL(`http://${host}/`) : null
  if (url === null) return 'no_url'
  const judged = guard.judgeHost(url.hostname)
  if (judged.kind === 'by_address') return 'name'
  if (judged.kind === 'allowed') return 'public'
  return /denied by (@\w+)/.exec(judged.message)?.[1] ?? judged.message
}

describe('the default rules', () => {
  // Every range of both IANA special-purpose registries by its first and last address where they tell something, the
  // neighbours outside, and the ways to write an address that URLs know.
  test.each(
    `
    0.0.0.0 @reserved
    0.0.0.1 @reserved
    0.255.255.255 @reserved
    1.0.0.0 public
    1.1.1.1 public
    8.8.8.8 public
    9.255.255.255 public
    10.0.0.0 @private
    10.255.255.255 @private
    11.0.0.0 public
    100.63.255.255 public
    100.64.0.0 @reserved
    100.127.255.255 @reserved
    100.128.0.0 public
    126.255.255.255 public
    127.0.0.0 @loopback
    127.0.0.1 @loopback
    127.255.255.255 @loopback
    128.0.0.0 public
    169.253.255.255 public
    169.254.0.0 @linklocal
    169.254.169.254 @linklocal
    169.254.255.255 @linklocal
    169.255.0.0 public
    172.15.255.255 public
    172.16.0.0 @private
    172.31.255.255 @private
    172.32.0.0 public
    191.255.255.255 public
    192.0.0.0 @reserved
    192.0.0.7 @reserved
    192.0.0.8 @reserved
    192.0.0.9 public
    192.0.0.10 public
    192.0.0.11 @reserved
    192.0.0.170 @reserved
    192.0.0.171 @reserved
    192.0.0.255 @reserved
    192.0.1.0 public
    192.0.2.0 @reserved
    192.0.2.255 @reserved
    192.31.196.1 public
    192.52.193.1 public
    192.88.98.255 public
    192.88.99.1 @reserved
    192.88.99.2 @reserved
    192.167.255.255 public
    192.168.0.0 @private
    192.168.255.255 @private
    192.169.0.0 public
    192.175.48.1 public
    198.17.255.255 public
    198.18.0.0 @reserved
    198.19.255.255 @reserved
    198.20.0.0 public
    198.51.99.255 public
    198.51.100.1 @reserved
    203.0.112.255 public
    203.0.113.7 @reserved
    203.0.114.0 public
    223.255.255.255 public
    224.0.0.1 @reserved
    239.255.255.255 @reserved
    240.0.0.1 @reserved
    255.255.255.254 @reserved
    255.255.255.255 @reserved
    [::] @reserved
    [::1] @loopback
    [::2] @reserved
    [::8.8.8.8] @reserved
    [::127.0.0.1] @reserved
    [::ffff:8.8.8.8] public
    [::ffff:10.0.0.1] @private
    [::ffff:127.0.0.1] @loopback
    [::ffff:7f00:1] @loopback
    [::ffff:169.254.169.254] @linklocal
    [::ffff:0.0.0.0] @reserved
    [0:0:0:0:0:ffff:c0a8:101] @private
    [::ffff:0:127.0.0.1] @reserved
    [64:ff9b::8.8.8.8] public
    [64:ff9b::10.0.0.1] @private
    [64:ff9b::127.0.0.1] @loopback
    [64:ff9b::a9fe:a9fe] @linklocal
    [64:ff9b::192.0.2.1] @reserved
    [64:ff9b:1::1] @reserved
    [64:ff9b:1::8.8.8.8] @reserved
    [100::1] @reserved
    [100:0:0:1::1] @reserved
    [200::1] @reserved
    [1fff:ffff::1] @reserved
    [2000::1] public
    [2001::1] @reserved
    [2001:0:7f00:1::] @reserved
    [2001:1::1] public
    [2001:1::2] public
    [2001:1::3] public
    [2001:1::4] @reserved
    [2001:2::1] @reserved
    [2001:3::1] public
    [2001:4:112::1] public
    [2001:4:113::1] @reserved
    [2001:10::1] @reserved
    [2001:20::1] public
    [2001:2f:ffff::1] public
    [2001:30::1] public
    [2001:40::1] @reserved
    [2001:1ff:ffff::1] @reserved
    [2001:200::1] public
    [2001:db7:ffff::1] public
    [2001:db8::1] @reserved
    [2001:db8:ffff:ffff::1] @reserved
    [2001:db9::1] public
    [2001:4860:4860::8888] public
    [2002:808:808::1] public
    [2002:7f00:1::1] @loopback
    [2002:a00:1::] @private
    [2002:c0a8:101::1] @private
    [2002:a9fe:a9fe::1] @linklocal
    [2002:e000:1::1] @reserved
    [2003::1] public
    [2606:4700::1111] public
    [2620:4f:8000::1] public
    [3ffe::1] public
    [3fff::1] @reserved
    [3fff:fff:ffff::1] @reserved
    [3fff:1000::1] public
    [4000::1] @reserved
    [5f00::1] @reserved
    [8000::1] @reserved
    [fbff::1] @reserved
    [fc00::1] @private
    [fd00:ec2::254] @private
    [fdff:ffff::1] @private
    168.63.129.16 @metadata
    0xa83f8110 @metadata
    161.26.0.10 @metadata
    166.11.255.254 @metadata
    166.12.0.0 public
    [fe00::1] @reserved
    [fe80::1] @linklocal
    [febf:ffff::1] @linklocal
    [fec0::1] @private
    [feff:ffff::1] @private
    [ff00::1] @reserved
    [ff02::1] @reserved
    [FE80::1] @linklocal
    [0000:0000:0000:0000:0000:0000:0000:0001] @loopback
    2130706433 @loopback
    017700000001 @loopback
    0x7f000001 @loopback
    0x7F.0.0.0x1 @loopback
    0177.0.0.1 @loopback
    127.1 @loopback
    127.0.1 @loopback
    0x7f.1 @loopback
    127.0.0.1. @loopback
    10.1 @private
    167772161 @private
    0xa9fea9fe @linklocal
    2852039166 @linklocal
    0251.0376.0251.0376 @linklocal
    0 @reserved
    0x0 @reserved
    127。0。0。1 @loopback
    127．0．0．1 @loopback
    127｡0｡0｡1 @loopback
    ①②⑦.0.0.1 @loopback
    127%2e0%2e0%2e1 @loopback
    256.0.0.1 no_url
    0x100000000 no_url
    1.2.3.4.5 no_url
    [fe80::1%25eth0] no_url
    [::1%25lo] no_url
    [::ffff:010.0.0.1] no_url
    localhost @loopback
    LOCALHOST @loopback
    localhost. @loopback
    api.localhost @loopback
    localhost.example.com name
    example.com name
    127.0.0.1.example.com name
    bücher.example name
  `
      .trim()
      .split('\n')
      .map((line) => line.trim().split(' ') as [string, string]),
  )('%s is %s', (host, expected) => {
    expect(verdict(host)).toBe(expected)
  })

  test.each([
    ['127.0.0.1', '@loopback'],
    ['::1', '@loopback'],
    ['::ffff:127.0.0.1', '@loopback'],
    ['::127.0.0.1', '@reserved'],
    ['fe80::1%eth0', '@linklocal'],
    ['fe80::1%eth0.100', '@linklocal'],
    ['FD00::1', '@private'],
  ])('%s, as a lookup may answer it, is %s', (address, group) => {
    expect(guard.judgeAddress(address)).toBe(`address ${address} is denied by ${group}`)
  })

  test.each(['', 'example.com', '10.0.0.1/8', 'nonsense', '1.2.3.4.5', ':::'])(
    '%j is no address and so it is denied',
    (text) => {
      expect(guard.judgeAddress(text)).toBe(`${text} is not an address`)
    },
  )

  test('public addresses pass', () => {
    expect(guard.judgeAddress('93.184.215.14')).toBeNull()
    expect(guard.judgeAddress('2606:2800:21f:cb07:6820:80da:af6b:8b2c')).toBeNull()
  })

  test.each(['a/b', 'a?b', 'a@b', 'a b', 'a:80', ''])('a host that is none, %j, is denied', (host) => {
    expect(guard.judgeHost(host).kind).toBe('denied')
  })
})

describe('rules', () => {
  const judge = (deny: string[], allow: string[] = []) => denyRules({ deny, allow })

  test('without any, everything passes', () => {
    const open = judge([])
    expect(open.permitsAll).toBe(true)
    expect(open.judgeHost('127.0.0.1').kind).toBe('allowed')
    expect(open.judgeAddress('127.0.0.1')).toBeNull()
  })

  test('a group denies what is in it and nothing else', () => {
    expect(judge(['@private']).judgeAddress('127.0.0.1')).toBeNull()
    expect(judge(['@loopback']).judgeAddress('10.0.0.1')).toBeNull()
    expect(judge(['@reserved']).judgeAddress('fc00::1')).toBeNull()
    expect(judge(['@linklocal']).judgeAddress('169.254.1.1')).toBe('address 169.254.1.1 is denied by @linklocal')
  })

  test('@metadata denies the inner services of cloud providers and nothing beside them', () => {
    const { judgeAddress } = judge(['@metadata'])
    const denied = ['168.63.129.16', '161.26.0.0', '161.26.255.255', '166.8.0.0', '166.11.255.255', '100.100.100.200']
    for (const address of [
      ...denied,
      'fd00:ec2::254',
      '169.254.169.254',
      '::ffff:168.63.129.16',
      '64:ff9b::a83f:8110',
    ]) {
      expect(judgeAddress(address)).toBe(`address ${address} is denied by @metadata`)
    }
    for (const address of [
      '168.63.129.15',
      '168.63.129.17',
      '161.25.255.255',
      '161.27.0.0',
      '166.7.255.255',
      '166.12.0.0',
      '100.100.100.199',
      '169.254.169.253',
      'fd00:ec2::253',
      '10.0.0.1',
    ]) {
      expect(judgeAddress(address)).toBeNull()
    }
  })

  test('an exception for another group does not open @metadata', () => {
    const { judgeAddress } = judge(['@default'], ['@private', '@linklocal', '@reserved'])
    expect(judgeAddress('fd00:ec2::253')).toBeNull()
    expect(judgeAddress('fd00:ec2::254')).toBe('address fd00:ec2::254 is denied by @private')
    expect(judgeAddress('169.254.169.253')).toBeNull()
    expect(judgeAddress('169.254.169.254')).not.toBeNull()
    expect(judgeAddress('100.100.100.200')).not.toBeNull()
    expect(judge(['@default'], ['@metadata']).judgeAddress('169.254.169.254')).toBeNull()
    expect(judge(['@default'], ['169.254.169.254']).judgeAddress('169.254.169.254')).toBeNull()
    expect(judge(['@default'], ['@default']).judgeAddress('169.254.169.254')).toBeNull()
  })

  test('an address or a network denies itself, also as IPv6 holds it', () => {
    const { judgeAddress } = judge(['93.184.215.14', '198.41.0.0/16', '2606:4700::/32', '::ffff:1.2.3.0/120'])
    expect(judgeAddress('93.184.215.14')).toContain('denied by 93.184.215.14')
    expect(judgeAddress('93.184.215.15')).toBeNull()
    expect(judgeAddress('::ffff:198.41.3.4')).toContain('denied by 198.41.0.0/16')
    expect(judgeAddress('2606:4700::1')).toContain('denied by 2606:4700::/32')
    expect(judgeAddress('1.2.3.4')).toContain('denied by ::ffff:1.2.3.0/120')
    expect(judge(['2002::/16']).judgeAddress('2002:808:808::1')).toContain('denied by 2002::/16')
    expect(judge(['0.0.0.0/0', '::/0']).judgeAddress('64:ff9b::8.8.8.8')).toContain('denied by 0.0.0.0/0')
  })

  test('an exception opens exactly what it names', () => {
    const { judgeAddress, judgeHost } = judge(
      ['@default'],
      ['127.0.0.1', '10.1.0.0/16', 'hooks.internal', '*.svc.internal'],
    )
    expect(judgeAddress('127.0.0.1')).toBeNull()
    expect(judgeAddress('127.0.0.2')).not.toBeNull()
    expect(judgeAddress('::ffff:10.1.2.3')).toBeNull()
    expect(judgeAddress('10.2.0.1')).not.toBeNull()
    expect(judgeHost('hooks.internal').kind).toBe('allowed')
    expect(judgeHost('other.internal').kind).toBe('by_address')
    expect(judgeHost('a.svc.internal').kind).toBe('allowed')
    expect(judgeHost('localhost').kind).toBe('by_address')
  })

  test('names are compared without case and without the dot at the end', () => {
    const { judgeHost } = judge(['Metadata.Google.Internal.', '*.corp.example', 'bücher.example'])
    expect(judgeHost('metadata.google.internal')).toEqual({
      kind: 'denied',
      message: 'host metadata.google.internal is denied by Metadata.Google.Internal.',
    })
    expect(judgeHost('METADATA.google.internal.').kind).toBe('denied')
    expect(judgeHost('a.b.corp.example').kind).toBe('denied')
    expect(judgeHost('corp.example').kind).toBe('by_address')
    expect(judgeHost('notcorp.example').kind).toBe('by_address')
    expect(judgeHost('xn--bcher-kva.example').kind).toBe('denied')
  })

  test('a name that an exception names beats one that a rule denies', () => {
    expect(judge(['*.example'], ['ok.example']).judgeHost('ok.example').kind).toBe('allowed')
  })

  test.each([
    '',
    '*',
    '@nobody',
    '10/8',
    '10',
    '127.1',
    '0x7f.1',
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/',
    'http://a',
    'a b',
    '*.',
    '*.1.2.3.4',
    'a*.b',

    '1.2.3.4:80',
    'fe80::1%eth0',
  ])('%j is no rule, and the error says so', (rule) => {
    for (const lists of [
      { deny: [rule], allow: [] },
      { deny: [], allow: [rule] },
    ]) {
      expect(() => denyRules(lists)).toThrow(PosthornError)
      expect(() => denyRules(lists)).toThrow(JSON.stringify(rule))
    }
  })
})
