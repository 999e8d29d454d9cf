import { readFileSync } from 'node:fs';
import { describeError } from '../../errors.ts';
import { backupKeyCharactersMinimum } from './encryption.ts';

/**
 * The key of backups: BACKUP_KEY, or the first line of the file that BACKUP_KEY_FILE names. Undefined without either:
 * backups are then not encrypted.
 * @throws Error when both are set, the file cannot be read, or the key is too short
 */
export function readBackupKey(environment: Readonly<Record<string, string | undefined>>): string | undefined {
  const { BACKUP_KEY: inline = '', BACKUP_KEY_FILE: path = '' } = environment;
  if (inline !== '' && path !== '') throw new Error('BACKUP_KEY and BACKUP_KEY_FILE are both set: set one of them');
  if (inline === '' && path === '') return undefined;
  const key = path === '' ? inline : firstLineOf(path);
  if (key.length < backupKeyCharactersMinimum) {
    throw new Error(`the key of backups has fewer than ${backupKeyCharactersMinimum} characters`);
  }
  return key;
}

function firstLineOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').split(/\r?\n/, 1)[0] ?? '';
  } catch (error) {
    throw new Error(`BACKUP_KEY_FILE names a file that cannot be read: ${describeError(error)}`, { cause: error });
  }
}
