import { systemClock } from './clock.ts';
import { makeBackup } from './embedded/backup/make-backup.ts';
import { restoreBackup } from './embedded/backup/restore-backup.ts';
import { readBackupKey } from './embedded/backup/backup-key.ts';
import { describeError } from './errors.ts';
import { packageVersion } from './package-root.ts';

/**
 * The program behind scripts/backup and scripts/restore, which is in the image too: `backup.js make <new folder>` and
 * `backup.js restore <folder>`. DATA_DIR names the data folder, as for the service. BACKUP_KEY, or the file that
 * BACKUP_KEY_FILE names, is the key of an encrypted backup.
 */

/** The exit code when the words are not understood, as of the other scripts. */
const wrongUsageExitCode = 2;

async function main(): Promise<void> {
  // The files are for the user of this process alone.
  process.umask(0o077);
  const [action, folder = '', ...rest] = process.argv.slice(2);
  const dataFolder = process.env['DATA_DIR'] || 'data';
  if (folder === '' || rest.length > 0 || (action !== 'make' && action !== 'restore')) {
    process.stderr.write('lendstream: name one folder, that of the backup\n');
    process.exitCode = wrongUsageExitCode;
  } else if (action === 'make') {
    const key = readBackupKey(process.env);
    const { begun_at, bytes } = await makeBackup({
      dataFolder,
      target: folder,
      version: packageVersion,
      key,
      clock: systemClock,
    });
    const kind = key === undefined ? 'checked' : 'checked and encrypted';
    process.stdout.write(`${folder} has everything acknowledged before ${begun_at}: ${bytes} bytes, ${kind}.\n`);
  } else {
    const { begun_at } = await restoreBackup({ backup: folder, dataFolder, key: readBackupKey(process.env) });
    process.stdout.write(`${dataFolder} has everything acknowledged before ${begun_at}. Start the service with it.\n`);
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`lendstream: ${describeError(error)}\n`);
  process.exitCode = 1;
});
