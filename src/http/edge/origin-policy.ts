import type { Request } from 'express';
import { BlockList, isIP } from 'node:net';
import { LendstreamError } from '../../errors.ts';
import { isBrowserPage } from './browser-pages.ts';

export interface OriginPolicyOptions {
  /** Whether every request is let in without a key: then its host must be one of the service's own names. */
  readonly isOpen: boolean;
  /** Names of the service in addition to those of the loopback address, as `name` or `name:port`. */
  readonly allowedHosts: readonly string[];
  /** Exact origins whose pages may use the service. */
  readonly allowedOrigins?: readonly string[];
}

/**
 * Refuses requests that a browser sends for a page that is not the service's own. A browser lets any page send requests
 * to any address, even to one that only this machine reaches. It marks them with `Sec-Fetch-Site`; older browsers, and
 * those on plain HTTP, use `Origin`. A page can change neither. A request with neither of the two comes from no page.
 * @throws FORBIDDEN for a request from a page of another site, MISDIRECTED_REQUEST for a host that is not the service's
 */
export function createOriginPolicy({
  isOpen,
  allowedHosts,
  allowedOrigins = [],
}: OriginPolicyOptions): (request: Request) => void {
  const allowed = new Set(allowedHosts.map((host) => host.toLowerCase()));
  const listedOrigins = new Set(allowedOrigins);
  // Nearly every request names the same host as the one before.
  let checkedHost: string | undefined;
  return (request) => {
    const host = authorityOf(request);
    if (isOpen && host !== undefined && host !== checkedHost) {
      if (!isOwnHost(host, allowed)) throw misdirected(host);
      checkedHost = host;
    }
    const { origin, 'sec-fetch-site': site } = request.headers;
    if (origin === undefined && site === undefined) return;
    if (origin !== undefined && listedOrigins.has(origin)) return;
    if (!isOwnPage(origin, joinedHeader(site), host, allowed) && !isLinkToPage(request)) throw crossOriginForbidden();
  };
}

/** The host and port of a request. A full URL in the first line takes precedence over the header (RFC 9112, 3.2.2). */
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

/** These names can only lead to this machine. The port may be another one: that of a tunnel or of a container. */
function isLoopbackName(name: string): boolean {
  const address = name.startsWith('[') ? name.slice(1, -1) : name;
  const family = isIP(address);
  return family === 0 ? name === 'localhost' : loopbackAddresses.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

/**
 * Whether the request comes from the service's own page, or from no page: when a person typed the address, the site is
 * `none`. Where the browser does not name the site, origin and host are compared; a proxy may have changed the host.
 */
function isOwnPage(
  origin: string | undefined,
  site: string | undefined,
  host: string | undefined,
  allowed: ReadonlySet<string>,
): boolean {
  if (site === 'same-origin' || site === 'none') return true;
  const originUrl = origin === undefined || !URL.canParse(origin) ? undefined : new URL(origin);
  if (originUrl === undefined || (originUrl.protocol !== 'http:' && originUrl.protocol !== 'https:')) return false;
  if (allowed.has(originUrl.host)) return true;
  if (site !== undefined || host === undefined) return false;
  // Without the default port of the protocol, as in the origin.
  const ownOrigin = `${originUrl.protocol}//${host}`;
  return URL.canParse(ownOrigin) && new URL(ownOrigin).host === originUrl.host;
}

/** Links on other pages may lead to the service's pages: these hold no data, and one page cannot read another. */
function isLinkToPage({ method, path, headers }: Request): boolean {
  const isNavigation = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return isNavigation && headers.origin === undefined && method === 'GET' && isBrowserPage(path);
}

/** Joins repeated headers. The joined text matches none of the values that have a meaning. */
function joinedHeader(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.join(', ');
}

function crossOriginForbidden(): LendstreamError {
  const detail = 'Pages of other sites may not use this service. CORS_ORIGINS and ALLOWED_HOSTS name those that may.';
  return new LendstreamError('FORBIDDEN', detail);
}

function misdirected(host: string): LendstreamError {
  const detail = `This service is open only to its own machine, and ${JSON.stringify(host.slice(0, 255))} is not one of its names. `;
  return new LendstreamError('MISDIRECTED_REQUEST', `${detail}ALLOWED_HOSTS can name others, such as that of a proxy.`);
}
