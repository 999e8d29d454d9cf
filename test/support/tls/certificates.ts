// The library of certificates needs it before it is loaded.
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
  type X509Certificate,
} from '@peculiar/x509';

/** Certificates that tests make for themselves. */

cryptoProvider.set(webcrypto as unknown as Parameters<typeof cryptoProvider.set>[0]);

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

const dayMilliseconds = 86_400_000;

/** A certificate and its key, as PEM texts. */
export interface Certified {
  readonly certificate: string;
  /** PKCS #8. */
  readonly key: string;
}

export interface CertificateOptions {
  /** As RFC 4514 writes it; `CN=localhost` when absent. */
  readonly subject?: string;
  /** Milliseconds since the epoch; a day ago when absent. */
  readonly validFrom?: number;
  /** Milliseconds since the epoch; in a hundred days when absent. */
  readonly expiresAt?: number;
  /** `server` when absent. */
  readonly purpose?: 'server' | 'client' | 'both';
}

/** An authority that signs certificates for `localhost` and `127.0.0.1`. */
export class Authority {
  readonly certificate: string;
  readonly #own: X509Certificate;
  readonly #keys: webcrypto.CryptoKeyPair;

  private constructor(own: X509Certificate, keys: webcrypto.CryptoKeyPair) {
    this.#own = own;
    this.#keys = keys;
    this.certificate = own.toString('pem');
  }

  /** @param issuer Signs the authority's own certificate; it signs itself when absent. */
  static async create(subject = 'CN=Test authority', options: CertificateOptions = {}, issuer?: Authority) {
    const keys = await makeKeys();
    const own = await X509CertificateGenerator.create({
      ...validity(options),
      subject,
      issuer: issuer === undefined ? subject : issuer.#own.subject,
      publicKey: keys.publicKey,
      signingKey: issuer === undefined ? keys.privateKey : issuer.#keys.privateKey,
      signingAlgorithm: algorithm,
      extensions: [new BasicConstraintsExtension(true, undefined, true)],
    });
    return new Authority(own, keys);
  }

  async sign(options: CertificateOptions = {}): Promise<Certified> {
    const { subject = 'CN=localhost', purpose = 'server' } = options;
    const keys = await makeKeys();
    const usages = { server: [ExtendedKeyUsage.serverAuth], client: [ExtendedKeyUsage.clientAuth] };
    const certificate = await X509CertificateGenerator.create({
      ...validity(options),
      subject,
      issuer: this.#own.subject,
      publicKey: keys.publicKey,
      signingKey: this.#keys.privateKey,
      signingAlgorithm: algorithm,
      extensions: [
        new BasicConstraintsExtension(false),
        new ExtendedKeyUsageExtension(purpose === 'both' ? [...usages.server, ...usages.client] : usages[purpose]),
        new SubjectAlternativeNameExtension([
          { type: 'dns', value: 'localhost' },
          { type: 'ip', value: '127.0.0.1' },
        ]),
      ],
    });
    const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
    return { certificate: certificate.toString('pem'), key: PemConverter.encode(key, 'PRIVATE KEY') };
  }
}

async function makeKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

function validity({ validFrom = Date.now() - dayMilliseconds, expiresAt = Date.now() + 100 * dayMilliseconds }) {
  return { notBefore: new Date(validFrom), notAfter: new Date(expiresAt) };
}

/** Paths of a certificate, its key and an authority, as settings name them. */
export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
  readonly ca: string;
}

/** Writes PEM texts to a folder. */
export function writeCertificates(folder: string, { certificate, key }: Certified, ca = ''): CertificateFiles {
  const files = { certificate: join(folder, 'tls.crt'), key: join(folder, 'tls.key'), ca: join(folder, 'ca.crt') };
  mkdirSync(folder, { recursive: true });
  writeFileSync(files.certificate, certificate);
  writeFileSync(files.key, key);
  writeFileSync(files.ca, ca);
  return files;
}
