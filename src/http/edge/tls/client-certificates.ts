import { Router, type Request } from 'express';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Clock } from '../../../clock.ts';
import { LendstreamError } from '../../../errors.ts';
import { withoutLastSlash } from '../request-paths.ts';

export interface ClientCertificatesOptions {
  /** Whether the server asks clients for certificates. */
  readonly areAsked: boolean;
  /** Whether a request without a verified name is refused. */
  readonly isRequired: boolean;
  /** In lower case: where a trusted proxy names the subject of its client's certificate. */
  readonly header?: string | undefined;
  readonly isTrustedProxy: (address: string | undefined) => boolean;
  readonly clock: Clock;
}

/** The longest subject that is taken from a proxy. Characters. */
export const subjectCharactersMaximum = 1_024;

/** A supervisor and a load balancer have no certificate. */
const probes = new Set(['/health', '/ready']);

/** What a connection's certificate says; the same for all its requests. */
interface ConnectionCertificate {
  readonly subject?: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number;
  /** Why there is no verified subject; undefined when the client sent no certificate. */
  readonly fault?: string;
}

const certificates = new WeakMap<Socket, ConnectionCertificate>();

/** Who a verified certificate is for. */
export interface VerifiedClient {
  readonly name: string;
  /** When the certificate expires, in milliseconds since the epoch; undefined where a proxy verified it. */
  readonly expiresAt?: number | undefined;
}

/**
 * Who the client's verified certificate is for, in the form of RFC 4514 such as `CN=payments,O=Bank`; undefined when it
 * sent none. Behind a proxy that is trusted by address, it is the one that the proxy names in
 * CLIENT_CERTIFICATE_HEADER, and the proxy's own certificate is never taken for its clients'. All characters are
 * visible ASCII characters or spaces.
 * @throws MALFORMED_REQUEST when a proxy names several, or one that is too long
 */
export function verifiedClient(request: Request): VerifiedClient | undefined {
  const options = request.app.locals['clientCertificates'] as ClientCertificatesOptions | undefined;
  if (options === undefined) return undefined;
  if (options.header !== undefined && options.isTrustedProxy(request.socket.remoteAddress)) {
    const subject = subjectFromProxy(request, options.header);
    return subject === undefined ? undefined : { name: subject };
  }
  if (!options.areAsked) return undefined;
  const { subject, expiresAt } = certificateOf(request.socket);
  return subject === undefined ? undefined : { name: subject, expiresAt };
}

/**
 * Refuses requests whose certificate was not verified or has expired since its connection opened, and requests without
 * one where each needs one; mount it before every other router. Probes pass without.
 */
export function createClientCertificateCheck(options: ClientCertificatesOptions): Router {
  const router = Router();
  router.use((request, response, next) => {
    const { fault, expiresAt = Infinity } = certificateOf(request.socket);
    if (expiresAt <= options.clock.now()) {
      // The client presents its next certificate on a new connection.
      response.set('Connection', 'close');
      throw new LendstreamError('FORBIDDEN', 'The client certificate is not accepted: CERT_HAS_EXPIRED.');
    }
    if (fault !== undefined) {
      throw new LendstreamError('FORBIDDEN', `The client certificate is not accepted: ${fault}.`);
    }
    if (options.isRequired && !probes.has(withoutLastSlash(request.path)) && verifiedClient(request) === undefined) {
      const detail = 'A client certificate is needed that one of the authorities in TLS_CLIENT_CA has signed.';
      throw new LendstreamError('FORBIDDEN', detail);
    }
    next();
  });
  return router;
}

function certificateOf(socket: Socket): ConnectionCertificate {
  const known = certificates.get(socket);
  if (known !== undefined) return known;
  const read = readCertificate(socket);
  certificates.set(socket, read);
  return read;
}

function readCertificate(socket: Socket): ConnectionCertificate {
  if (!(socket instanceof TLSSocket)) return {};
  // A resumed session of a client that sent no certificate counts as authorized as well: the certificate decides.
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return {};
  if (!socket.authorized) return { fault: String(socket.authorizationError) };
  const subject = subjectText(certificate.subject);
  return subject === '' ? { fault: 'its subject is empty' } : { subject, expiresAt: Date.parse(certificate.validTo) };
}

/**
 * The subject as RFC 4514 and proxies write it: the last part first, and bytes beyond ASCII as `\C3\A9`.
 * @param lines As Node writes it: the first part first, one on each line, special characters escaped.
 */
export function subjectText(lines: string | undefined): string {
  const parts = (lines ?? '').split('\n').filter((part) => part !== '');
  return parts
    .toReversed()
    .map((part) => part.replaceAll(' + ', '+'))
    .join(',')
    .replaceAll(/[^\x20-\x7e]+/g, (text) =>
      Buffer.from(text)
        .toString('hex')
        .toUpperCase()
        .replaceAll(/../g, (byte) => `\\${byte}`),
    );
}

function subjectFromProxy({ headers, headersDistinct }: Request, header: string): string | undefined {
  if (headers[header] === undefined) return undefined;
  const [subject = '', ...others] = headersDistinct[header] ?? [];
  // A proxy that adds its header to that of the client would let the client choose.
  if (others.length > 0) throw new LendstreamError('MALFORMED_REQUEST', `The header ${header} must not be repeated.`);
  if (subject === '') return undefined;
  if (subject.length > subjectCharactersMaximum || !/^[\x20-\x7e]+$/.test(subject)) {
    const detail = `The header ${header} must have at most ${subjectCharactersMaximum} visible ASCII characters and spaces.`;
    throw new LendstreamError('MALFORMED_REQUEST', detail);
  }
  return subject;
}
