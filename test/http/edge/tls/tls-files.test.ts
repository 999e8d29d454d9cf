import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkTls, readTlsFiles, type TlsTexts } from '../../../../src/http/edge/tls/tls-files.ts';
import { isLendstreamError } from '../../../../src/errors.ts';
import { removeFolder, temporaryFolder } from '../../../support/processes/service.ts';
import { Authority, type Certified } from '../../../support/tls/certificates.ts';

/** Certificates have whole seconds. */
const expiresAt = Date.UTC(2030, 0, 1);
const validFrom = Date.UTC(2029, 0, 1);

const problemOf = (texts: TlsTexts, now: number): string => {
  try {
    checkTls(texts, now);
  } catch (error) {
    if (isLendstreamError(error, 'CONFIGURATION_INVALID')) return error.message;
    throw error;
  }
  return 'none';
};

describe('the files of TLS', () => {
  let authority: Authority;
  let intermediate: Authority;
  let served: Certified;

  before(async () => {
    authority = await Authority.create('CN=Test authority', { validFrom, expiresAt });
    intermediate = await Authority.create('CN=Between', { validFrom, expiresAt }, authority);
    served = await intermediate.sign({ validFrom, expiresAt });
  });

  it('are served from the first to the last millisecond of the certificate, with a chain', () => {
    const chain = { ...served, certificate: `${served.certificate}\n${intermediate.certificate}\n` };
    expect(problemOf(chain, validFrom - 1)).to.equal(
      'The certificate in TLS_CERTIFICATE is valid from 2029-01-01T00:00:00.000Z only',
    );
    expect(checkTls(chain, validFrom).expiresAt).to.equal(expiresAt);
    expect(checkTls(chain, expiresAt - 1).certificate).to.equal(chain.certificate);
    expect(problemOf(chain, expiresAt)).to.equal(
      'The certificate in TLS_CERTIFICATE expired at 2030-01-01T00:00:00.000Z',
    );
  });

  it('need a key that belongs to the first certificate', async () => {
    const other = await authority.sign({ validFrom, expiresAt });
    const problem = 'TLS_KEY is not the key of the first certificate in TLS_CERTIFICATE';
    expect(problemOf({ ...served, key: other.key }, validFrom)).to.equal(problem);
    const wrongOrder = { ...served, certificate: `${intermediate.certificate}${served.certificate}` };
    expect(problemOf(wrongOrder, validFrom)).to.equal(problem);
  });

  it('need PEM texts that are whole, and a key without a passphrase', () => {
    const half = served.certificate.slice(0, -60);
    expect(problemOf({ ...served, certificate: '' }, validFrom)).to.match(/TLS_CERTIFICATE names a file without/);
    expect(problemOf({ ...served, certificate: half }, validFrom)).to.match(/TLS_CERTIFICATE names a file without/);
    const damaged = served.certificate.replace(/[A-Za-z]{20}/, 'A'.repeat(20));
    expect(problemOf({ ...served, certificate: damaged }, validFrom)).to.match(/a certificate that cannot be read/);
    const encrypted = generateKeyPairSync('ec', {
      namedCurve: 'P-256',
      privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    }).privateKey;
    for (const key of ['', served.key.slice(0, -40), served.certificate, encrypted]) {
      expect(problemOf({ ...served, key }, validFrom)).to.equal(
        'TLS_KEY names a file without a private key in PEM form and without a passphrase',
      );
    }
  });

  it('need one authority of clients that has not expired', async () => {
    const old = await Authority.create('CN=Old', { validFrom, expiresAt: validFrom + 1_000 });
    const both = `${old.certificate}${authority.certificate}`;
    expect(checkTls({ ...served, clientCa: both }, validFrom).clientCaExpiresAt).to.equal(validFrom + 1_000);
    expect(checkTls({ ...served, clientCa: both }, validFrom + 1_000).clientCaExpiresAt).to.equal(expiresAt);
    expect(problemOf({ ...served, clientCa: old.certificate }, validFrom + 1_000)).to.equal(
      'Every certificate in TLS_CLIENT_CA expired, the last at 2029-01-01T00:00:01.000Z',
    );
    expect(problemOf({ ...served, clientCa: served.key }, validFrom)).to.match(/TLS_CLIENT_CA names a file without/);
  });

  it('must be readable, and the message names the setting', async () => {
    const folder = await temporaryFolder();
    const [certificate, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
    writeFileSync(certificate, served.certificate);
    const problem = async (): Promise<string> =>
      readTlsFiles({ certificate, key }).then(
        () => 'none',
        (error: unknown) => (isLendstreamError(error, 'CONFIGURATION_INVALID') ? error.message : String(error)),
      );
    expect(await problem()).to.match(/^TLS_KEY names a file that cannot be read: ENOENT/);
    writeFileSync(key, served.key);
    expect(await problem()).to.equal('none');
    // Root may read everything.
    if (process.getuid?.() !== 0) {
      chmodSync(key, 0o000);
      expect(await problem()).to.match(/^TLS_KEY names a file that cannot be read: EACCES/);
    }
    await removeFolder(folder);
  });
});
