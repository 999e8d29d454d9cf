import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { toTimestamp } from '../../../clock.ts';
import { LendstreamError, describeError } from '../../../errors.ts';

/** Paths of PEM files. */
export interface TlsFiles {
  /** The certificate of the service, and after it those of intermediate authorities. */
  readonly certificate: string;
  readonly key: string;
  /** The authorities of the clients' certificates; without it none are asked for. */
  readonly clientCa?: string;
}

/** What the files contain, checked. PEM texts. */
export interface TlsMaterial {
  readonly certificate: string;
  readonly key: string;
  readonly clientCa?: string;
  /** When the certificate of the service expires. Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** When the first of the authorities of clients expires that has not expired yet. */
  readonly clientCaExpiresAt?: number;
}

/** The texts of the files, unchecked. */
export type TlsTexts = Pick<TlsMaterial, 'certificate' | 'key' | 'clientCa'>;

/** The setting that names each file. */
const settings = { certificate: 'TLS_CERTIFICATE', key: 'TLS_KEY', clientCa: 'TLS_CLIENT_CA' } as const;

/** @throws CONFIGURATION_INVALID for a file that cannot be read */
export async function readTlsFiles(files: TlsFiles): Promise<TlsTexts> {
  const { clientCa } = files;
  return {
    certificate: await read('certificate', files.certificate),
    key: await read('key', files.key),
    ...(clientCa === undefined ? {} : { clientCa: await read('clientCa', clientCa) }),
  };
}

async function read(name: keyof TlsFiles, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw unusable(`${settings[name]} names a file that cannot be read: ${describeError(error)}`, error);
  }
}

/**
 * Checks that the texts can be served now: the key belongs to the certificate, and neither the certificate nor all
 * authorities of clients have expired.
 * @param now Milliseconds since the epoch.
 * @throws CONFIGURATION_INVALID with the setting and what is wrong
 */
export function checkTls(texts: TlsTexts, now: number): TlsMaterial {
  const [certificate] = certificatesOf('certificate', texts.certificate);
  const key = keyOf(texts.key);
  if (!certificate.checkPrivateKey(key)) {
    throw unusable('TLS_KEY is not the key of the first certificate in TLS_CERTIFICATE');
  }
  const validFrom = Date.parse(certificate.validFrom);
  const expiresAt = Date.parse(certificate.validTo);
  if (expiresAt <= now) throw unusable(`The certificate in TLS_CERTIFICATE expired at ${toTimestamp(expiresAt)}`);
  if (validFrom > now)
    throw unusable(`The certificate in TLS_CERTIFICATE is valid from ${toTimestamp(validFrom)} only`);
  const material = { ...texts, expiresAt, ...clientCaExpiry(texts.clientCa, now) };
  try {
    createSecureContext(secureContextOptions(material));
  } catch (error) {
    throw unusable(`TLS_CERTIFICATE and TLS_KEY cannot be served: ${describeError(error)}`, error);
  }
  return material;
}

/** The material as Node takes it, with the oldest version of TLS that is spoken. */
export function secureContextOptions({ certificate, key, clientCa }: TlsTexts) {
  return {
    cert: certificate,
    key,
    minVersion: 'TLSv1.2' as const,
    ...(clientCa === undefined ? {} : { ca: clientCa }),
  };
}

function clientCaExpiry(clientCa: string | undefined, now: number): Pick<TlsMaterial, 'clientCaExpiresAt'> {
  if (clientCa === undefined) return {};
  const expiries = certificatesOf('clientCa', clientCa).map(({ validTo }) => Date.parse(validTo));
  const valid = expiries.filter((expiry) => expiry > now);
  if (valid.length > 0) return { clientCaExpiresAt: Math.min(...valid) };
  throw unusable(`Every certificate in TLS_CLIENT_CA expired, the last at ${toTimestamp(Math.max(...expiries))}`);
}

function certificatesOf(name: 'certificate' | 'clientCa', text: string): [X509Certificate, ...X509Certificate[]] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  try {
    const [first, ...others] = blocks.map((block) => new X509Certificate(block));
    if (first !== undefined) return [first, ...others];
  } catch (error) {
    throw unusable(
      `${settings[name]} names a file with a certificate that cannot be read: ${describeError(error)}`,
      error,
    );
  }
  throw unusable(`${settings[name]} names a file without a certificate in PEM form`);
}

function keyOf(text: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch (error) {
    throw unusable(`TLS_KEY names a file without a private key in PEM form and without a passphrase`, error);
  }
}

function unusable(detail: string, cause?: unknown): LendstreamError {
  return new LendstreamError('CONFIGURATION_INVALID', detail, cause === undefined ? {} : { cause });
}
