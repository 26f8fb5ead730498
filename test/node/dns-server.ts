import { createSocket } from 'node:dgram'

import { onTestFinished } from 'vitest'

/** What a name has: addresses by the family asked for, `none` for a name that does not exist, `silence` for no answer. */
export type Answer = { 4?: readonly string[]; 6?: readonly string[] } | 'none' | 'silence'

/** A DNS server on a free loopback port. Answers `host:port`, and the names it was asked for. */
export async function dnsServer(
  answer: (name: string) => Answer,
): Promise<{ server: string; asked: { name: string; family: number }[] }> {
  const asked: { name: string; family: number }[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, { address, port }) => {
    const { name, family, end } = questionOf(query)
    asked.push({ name, family })
    const found = answer(name)
    if (found !== 'silence') socket.send(answerTo(query.subarray(0, end), family, found), port, address)
  })
  await new Promise<void>((ready) => socket.bind(0, '127.0.0.1', ready))
  onTestFinished(() => new Promise<void>((closed) => socket.close(closed)))
  return { server: `127.0.0.1:${socket.address().port}`, asked }
}

function questionOf(query: Buffer): { name: string; family: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), family: query.readUInt16BE(at + 1) === 28 ? 6 : 4, end: at + 5 }
}

/** The question again, with the answer flags, and its records with a lifetime of zero. */
function answerTo(question: Buffer, family: number, found: Exclude<Answer, 'silence'>): Buffer {
  const addresses = found === 'none' ? [] : (found[family as 4 | 6] ?? []) // a family is one of the two
  const header = Buffer.from(question)
  header.writeUInt16BE(found === 'none' ? 0x8183 : 0x8180, 2)
  header.writeUInt16BE(addresses.length, 6)
  header.writeUInt16BE(0, 8)
  header.writeUInt16BE(0, 10)
  const records = addresses.map((address) => {
    const bytes = family === 4 ? Buffer.from(address.split('.').map(Number)) : bytesOfV6(address)
    const record = Buffer.alloc(12)
    record.writeUInt16BE(0xc00c, 0) // the name of the question
    record.writeUInt16BE(family === 4 ? 1 : 28, 2)
    record.writeUInt16BE(1, 4)
    record.writeUInt16BE(bytes.length, 10)
    return Buffer.concat([record, bytes])
  })
  return Buffer.concat([header, ...records])
}

function bytesOfV6(address: string): Buffer {
  const [front = '', back] = address.split('::')
  const parts = (text: string | undefined): number[] =>
    text === undefined || text === '' ? [] : text.split(':').map((part) => Number.parseInt(part, 16))
  const [start, end] = [parts(front), parts(back)]
  const all = [...start, ...Array.from({ length: 8 - start.length - end.length }, () => 0), ...end]
  return Buffer.from(all.flatMap((part) => [part >> 8, part & 255]))
}
