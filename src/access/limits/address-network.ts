import { isIPv6 } from 'node:net';

/** How many groups of 16 bits of an IPv6 address name its network: 64 bits, which are given to one customer. */
const networkGroups = 4;

/**
 * What stands for the sender of an address: an IPv4 address itself, also one that is written as IPv6, and the /64 of an
 * IPv6 address, since its holder may choose the rest.
 */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [withoutZone = ''] = address.toLowerCase().split('%');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(withoutZone)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = '', tail] = withoutZone.split('::');
  const groups = groupsOf(head);
  // `::` stands for as many zeros as are missing.
  if (tail !== undefined) groups.push(...Array<string>(8 - groups.length - groupsOf(tail).length).fill('0'));
  const all = tail === undefined ? groups : [...groups, ...groupsOf(tail)];
  const network = all.slice(0, networkGroups).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}

/** The groups of a part of an address. An IPv4 address at its end has the place of two. */
function groupsOf(part: string): string[] {
  if (part === '') return [];
  return part.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group]));
}
