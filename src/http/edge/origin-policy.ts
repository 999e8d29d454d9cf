import type { Request } from 'express';
import { BlockList, isIP } from 'node:net';
import { LendstreamError } from '../../errors.ts';
import { isBrowserPage } from './authentication.ts';

export interface OriginPolicyOptions {
  /** Whether everybody who reaches the service is let in: then the name that it was reached by has to be its own. */
  readonly isOpen: boolean;
  /** Names that the service is reached by besides those of the loopback address, as `name` or `name:port`. */
  readonly allowedHosts: readonly string[];
}

/**
 * Refuses what a browser sends on behalf of a page that is not the service's own. A browser lets any page send requests
 * to any address, also to one that only this machine reaches. It says so in `Sec-Fetch-Site`, older ones and those on
 * plain HTTP in `Origin`; neither can be changed by the page. Requests with neither of the two come from no page.
 * @throws FORBIDDEN for a request of a foreign page, MISDIRECTED_REQUEST for a name that is not the service's
 */
export function createOriginPolicy({ isOpen, allowedHosts }: OriginPolicyOptions): (request: Request) => void {
  const allowed = new Set(allowedHosts.map((host) => host.toLowerCase()));
  // Nearly every request names the same host as the one before.
  let knownHost: string | undefined;
  return (request) => {
    const host = authorityOf(request);
    if (isOpen && host !== undefined && host !== knownHost) {
      if (!isOwnHost(host, allowed)) throw misdirected(host);
      knownHost = host;
    }
    const { origin, 'sec-fetch-site': site } = request.headers;
    if (origin === undefined && site === undefined) return;
    if (!isOwnPage(origin, singleOf(site), host, allowed) && !isLinkToPage(request)) throw foreign();
  };
}

/** The host and port that a request is for. An address in the first line counts before the header (RFC 9112, 3.2.2). */
function authorityOf({ url, headers }: Request): string | undefined {
  if (url.startsWith('/')) return headers.host;
  return /^https?:\/\/([^/?#]*)/i.exec(url)?.[1] ?? headers.host;
}

/** @param host As the client wrote it. A name that ends in a dot is the same name. */
function isOwnHost(host: string, allowed: ReadonlySet<string>): boolean {
  const authority = host.toLowerCase();
  const name = /^(\[[^\]]*\]|[^:]*?)\.?(?::\d*)?$/.exec(authority)?.[1];
  return name !== undefined && (isLoopbackName(name) || allowed.has(authority) || allowed.has(name));
}

const loopbackAddresses = new BlockList();
loopbackAddresses.addSubnet('127.0.0.0', 8, 'ipv4');
loopbackAddresses.addAddress('::1', 'ipv6');

/**
 * Nobody else can make these lead anywhere but to this machine. The port may be another one: of a tunnel, of a
 * container.
 */
function isLoopbackName(name: string): boolean {
  const address = name.startsWith('[') ? name.slice(1, -1) : name;
  const family = isIP(address);
  return family === 0 ? name === 'localhost' : loopbackAddresses.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

/**
 * Whether the page that asks is the service's own, or nobody's: an address that a person typed has the site `none`.
 * Where the browser says nothing of the site, origin and host are compared; a proxy may have changed the host.
 */
function isOwnPage(
  origin: string | undefined,
  site: string | undefined,
  host: string | undefined,
  allowed: ReadonlySet<string>,
): boolean {
  if (site === 'same-origin' || site === 'none') return true;
  const from = origin === undefined || !URL.canParse(origin) ? undefined : new URL(origin);
  if (from === undefined || (from.protocol !== 'http:' && from.protocol !== 'https:')) return false;
  if (allowed.has(from.host)) return true;
  if (site !== undefined || host === undefined) return false;
  // Without the port that the protocol has by itself, as in the origin.
  const to = `${from.protocol}//${host}`;
  return URL.canParse(to) && new URL(to).host === from.host;
}

/** Links of other pages may lead to the service's: what they show tells nothing, and a page cannot read another one. */
function isLinkToPage({ method, path, headers }: Request): boolean {
  const isNavigation = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return isNavigation && headers.origin === undefined && method === 'GET' && isBrowserPage(path);
}

/** Node joins several of one name; what is joined is none of the values that mean anything. */
function singleOf(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.join(', ');
}

function foreign(): LendstreamError {
  const detail = 'Pages of other sites may not use this service. ALLOWED_HOSTS names those that may.';
  return new LendstreamError('FORBIDDEN', detail);
}

function misdirected(host: string): LendstreamError {
  const detail = `This service is open to its own machine, and ${JSON.stringify(host.slice(0, 255))} is none of its names. `;
  return new LendstreamError('MISDIRECTED_REQUEST', `${detail}ALLOWED_HOSTS names others, such as that of a proxy.`);
}
