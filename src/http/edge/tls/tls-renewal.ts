import type { Server } from 'node:tls';
import { every, toTimestamp, type Clock } from '../../../clock.ts';
import { describeError } from '../../../errors.ts';
import type { Logger } from '../../../logger.ts';
import type { Metrics } from '../../../metrics.ts';
import { checkTls, readTlsFiles, secureContextOptions, type TlsFiles, type TlsMaterial } from './tls-files.ts';

/**
 * How often the files are read again. Reading them takes a fraction of a millisecond, and finds a change in every way
 * in which files are replaced, also by the symbolic links of Kubernetes. Milliseconds.
 */
export const tlsFilesCheckMilliseconds = 5_000;

export interface TlsRenewalOptions {
  readonly files: TlsFiles;
  /** What the server began with. */
  readonly material: TlsMaterial;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * Gives a server other certificates when their files change; new connections use them. Files that cannot be served,
 * such as a certificate whose key is not written yet, are named in the log once, and what was served before stays.
 * @returns stops it
 */
export function renewTls(
  server: Pick<Server, 'setSecureContext'>,
  { files, material, clock, logger, metrics }: TlsRenewalOptions,
): () => void {
  let served: Pick<TlsMaterial, 'certificate' | 'key' | 'clientCa'> = material;
  /** What was wrong when the files were last read; undefined when nothing was. */
  let problem: string | undefined;
  let isReading = false;
  showExpiry(metrics, material);

  const renew = async (): Promise<void> => {
    const texts = await readTlsFiles(files);
    const isSame =
      texts.certificate === served.certificate && texts.key === served.key && texts.clientCa === served.clientCa;
    if (isSame) {
      problem = undefined;
      return;
    }
    const renewed = checkTls(texts, clock.now());
    server.setSecureContext(secureContextOptions(renewed));
    served = renewed;
    problem = undefined;
    showExpiry(metrics, renewed);
    logger.info({ expires: toTimestamp(renewed.expiresAt) }, 'New connections use the changed certificates');
  };

  const timer = every(clock, tlsFilesCheckMilliseconds, () => {
    // A file system that hangs must not collect reads.
    if (isReading) return;
    isReading = true;
    renew()
      .catch((error: unknown) => {
        const description = describeError(error);
        if (description === problem) return;
        problem = description;
        logger.warn({ error: description }, 'The certificates have changed and cannot be used; those before stay');
      })
      .finally(() => {
        isReading = false;
      });
  });
  return () => timer.cancel();
}

function showExpiry({ tlsExpiresAt }: Metrics, { expiresAt, clientCaExpiresAt }: TlsMaterial): void {
  tlsExpiresAt.set({ setting: 'TLS_CERTIFICATE' }, expiresAt / 1_000);
  if (clientCaExpiresAt !== undefined) tlsExpiresAt.set({ setting: 'TLS_CLIENT_CA' }, clientCaExpiresAt / 1_000);
}
