import ipaddr from 'ipaddr.js'

export type Address = ipaddr.IPv4 | ipaddr.IPv6
/** A network: its address and the length of its prefix. */
export type Network = readonly [Address, number]

/** The groups that rules may name beside `@default`, which is all of them. Some addresses of `@metadata` are in a second group. */
export const groupNames = ['@private', '@loopback', '@linklocal', '@reserved', '@metadata'] as const
export type GroupName = (typeof groupNames)[number]

const networks = (...texts: string[]): readonly Network[] => texts.map((text) => ipaddr.parseCIDR(text))

const named: Readonly<Record<Exclude<GroupName, '@reserved'>, readonly Network[]>> = {
  '@private': networks('10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fec0::/10'),
  '@loopback': networks('127.0.0.0/8', '::1/128'),
  '@linklocal': networks('169.254.0.0/16', 'fe80::/10'),
  // Services of cloud providers for their customers' machines, which hand out credentials or work without any. The
  // addresses are public or belong to another group.
  '@metadata': networks(
    '169.254.169.254/32', // most providers
    'fd00:ec2::254/128', // https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html
    '168.63.129.16/32', // https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
    '100.100.100.200/32', // https://www.alibabacloud.com/help/en/ecs/user-guide/view-instance-metadata
    '161.26.0.0/16', // https://cloud.ibm.com/docs/vpc?topic=vpc-service-endpoints-for-vpc
    '166.8.0.0/14', // the same
  ),
}

// The IANA special-purpose registries, https://www.iana.org/assignments/iana-ipv4-special-registry and
// https://www.iana.org/assignments/iana-ipv6-special-registry: all networks that they do not call "Globally Reachable",
// and multicast.
const reserved = networks(
  '0.0.0.0/8', // this host on this network, RFC 791
  '100.64.0.0/10', // shared address space, RFC 6598
  '192.0.0.0/24', // IETF protocol assignments, RFC 6890
  '192.0.2.0/24', // documentation, RFC 5737
  '192.88.99.0/24', // 6to4 relays, deprecated, RFC 7526
  '198.18.0.0/15', // benchmarking, RFC 2544
  '198.51.100.0/24', // documentation, RFC 5737
  '203.0.113.0/24', // documentation, RFC 5737
  '224.0.0.0/4', // multicast, RFC 5771
  '240.0.0.0/4', // reserved and broadcast, RFC 1112, RFC 8190
  // Only 2000::/3 is global unicast space (RFC 4291). The rest holds the unspecified address, IPv4-compatible and
  // -translated addresses, 64:ff9b:1::/48, 100::/64, 5f00::/16 and multicast; nothing in it is globally reachable.
  '::/3',
  '4000::/2',
  '8000::/1',
  '2001::/23', // IETF protocol assignments with Teredo, benchmarking and ORCHID, RFC 2928
  '2001:db8::/32', // documentation, RFC 3849
  '3fff::/20', // documentation, RFC 9637
)

// Inside those, what the registries call globally reachable.
const reachable = networks(
  '192.0.0.9/32', // port control protocol anycast, RFC 7723
  '192.0.0.10/32', // TURN anycast, RFC 8155
  '2001:1::1/128', // port control protocol anycast, RFC 7723
  '2001:1::2/128', // TURN anycast, RFC 8155
  '2001:1::3/128', // DNS-SD service registration anycast, RFC 9665
  '2001:3::/32', // AMT, RFC 7450
  '2001:4:112::/48', // AS112, RFC 7535
  '2001:20::/28', // ORCHIDv2, RFC 7343
  '2001:30::/28', // drone remote id tags, RFC 9374
)

/** Whether an address belongs to a group. Addresses that hold an IPv4 address are taken as they are. */
export function isInGroup(address: Address, group: GroupName): boolean {
  if (group === '@reserved') return isIn(address, reserved) && !isIn(address, reachable) && !isInNamed(address)
  return isIn(address, named[group])
}

// Most of what is private, loopback or link-local for IPv6 lies in the reserved blocks too.
function isInNamed(address: Address): boolean {
  return (['@private', '@loopback', '@linklocal'] as const).some((group) => isIn(address, named[group]))
}

export function isIn(address: Address, list: readonly Network[]): boolean {
  return list.some(([network, bits]) => address.kind() === network.kind() && address.match(network, bits))
}
