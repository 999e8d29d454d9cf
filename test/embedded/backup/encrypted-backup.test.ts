import { expect } from 'chai';
import { readFileSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, before, beforeEach, describe, it } from 'mocha';
import { systemClock } from '../../../src/clock.ts';
import { readBackupKey } from '../../../src/embedded/backup/backup-key.ts';
import { makeBackup } from '../../../src/embedded/backup/make-backup.ts';
import { restoreBackup } from '../../../src/embedded/backup/restore-backup.ts';
import { describeError } from '../../../src/errors.ts';
import { openDatabase } from '../../../src/sqlite.ts';
import { call } from '../../support/http/client.ts';
import { removeFolder, startService, temporaryFolder } from '../../support/processes/service.ts';
import { deriveEachKeyOnce } from '../../support/values/derived-keys.ts';

const key = 'sixteen letters.';
const backupProgram = fileURLToPath(new URL('../../../src/backup.js', import.meta.url));
const pieceBytes = 1024 * 1024 + 16;
const headerBytes = 75;

async function failureOf(attempt: Promise<unknown>): Promise<string> {
  return attempt.then(() => 'none', describeError);
}

describe('an encrypted backup of the log', function () {
  this.timeout(60_000);
  let folder: string;
  let dataFolder: string;
  let backup: string;
  let file: string;
  let bytes: Buffer;
  let restored: string;
  let attempts = 0;
  let filesBefore: string[];
  let filesAfter: string[];
  let deriveAgain: () => void;

  before(async () => {
    // The same file is restored with the same key by nearly every test.
    deriveAgain = deriveEachKeyOnce();
    folder = await temporaryFolder();
    dataFolder = join(folder, "the bank's data");
    backup = join(folder, 'backup');
    file = join(backup, 'log.db.encrypted');
    const service = await startService(dataFolder);
    const definition = { name: 'kept', owning_application: 'Zebedee', category: 'undefined' };
    const schema = { type: 'json_schema', schema: '{}' };
    expect((await call(`${service.url}/event-types`, 'POST', { ...definition, schema })).status).to.equal(201);
    await service.stop();
    // Several pieces.
    const log = openDatabase(join(dataFolder, 'log.db'));
    log.exec(`CREATE TABLE filling (bytes BLOB); INSERT INTO filling VALUES (randomblob(${3 * pieceBytes}))`);
    log.close();
    filesBefore = readdirSync(dataFolder);
    await makeBackup({ dataFolder, target: backup, version: '0.0.0', key, clock: systemClock });
    filesAfter = readdirSync(dataFolder);
    bytes = readFileSync(file);
  });
  after(async () => {
    deriveAgain();
    await removeFolder(folder);
  });

  beforeEach(() => {
    attempts += 1;
    restored = join(folder, `restored-${attempts}`);
    store(bytes);
  });

  const restore = (withKey: string | undefined = key) => restoreBackup({ backup, dataFolder: restored, key: withKey });

  /** Gives the backup another file, with a manifest that fits. */
  function store(changed: Buffer, fields: object = {}): void {
    writeFileSync(file, changed);
    const path = join(backup, 'manifest.json');
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as object;
    writeFileSync(path, JSON.stringify({ ...manifest, bytes: changed.length, ...fields }));
  }

  it('has nothing readable, says how it is encrypted, and leaves the data folder as it was', () => {
    expect(readFileSync(join(dataFolder, 'log.db')).includes('Zebedee')).to.equal(true);
    expect(bytes.includes('Zebedee')).to.equal(false);
    expect(bytes.includes('SQLite format')).to.equal(false);
    expect(readdirSync(backup).sort()).to.deep.equal(['log.db.encrypted', 'manifest.json']);
    expect(statSync(file).mode & 0o077).to.equal(0);
    expect(JSON.parse(readFileSync(join(backup, 'manifest.json'), 'utf8'))).to.deep.include({
      file: 'log.db.encrypted',
      encryption: { cipher: 'AES-256-GCM, pieces of 1 MiB', key_derivation: 'scrypt, N=131072, r=8, p=1' },
    });
    expect(filesAfter).to.deep.equal(filesBefore);
  });

  it('is restored with its key to a log from which the service starts', async () => {
    await restore();
    expect(statSync(join(restored, 'log.db')).mode & 0o077).to.equal(0);
    const service = await startService(restored);
    expect((await call(`${service.url}/event-types/kept`, 'GET')).body).to.include({ owning_application: 'Zebedee' });
    await service.stop();
  });

  it('is refused with another key, and without one', async () => {
    expect(await failureOf(restore('another key of it'))).to.contain('was encrypted with another key');
    expect(await failureOf(restoreBackup({ backup, dataFolder: restored }))).to.contain('is encrypted: set BACKUP_KEY');
    expect(readdirSync(restored)).to.deep.equal([]);
  });

  const piece = (number: number): Buffer => bytes.subarray(headerBytes + number * pieceBytes).subarray(0, pieceBytes);
  const header = (): Buffer => bytes.subarray(0, headerBytes);
  const rest = (from: number): Buffer => bytes.subarray(headerBytes + from * pieceBytes);
  const flipped = (at: number): Buffer => {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    return changed;
  };
  const faults: readonly (readonly [what: string, changed: () => Buffer, message: string])[] = [
    ['swapped pieces', () => Buffer.concat([header(), piece(1), piece(0), rest(2)]), 'its 1. piece is not where'],
    ['a piece left out', () => Buffer.concat([header(), piece(0), rest(2)]), 'its 2. piece is not where'],
    ['a piece twice', () => Buffer.concat([header(), piece(0), piece(0), rest(1)]), 'its 2. piece is not where'],
    ['an end between two pieces', () => Buffer.concat([header(), piece(0), piece(1)]), 'its last piece is not where'],
    ['an end within a piece', () => bytes.subarray(0, bytes.length - 1), 'its last piece is not where'],
    ['an end within a tag', () => bytes.subarray(0, headerBytes + pieceBytes + 3), 'its last piece is not where'],
    ['an end before the first piece', () => header(), 'its last piece is not where'],
    ['something behind the end', () => Buffer.concat([bytes, Buffer.from('x')]), 'its last piece is not where'],
    ['another bit in a piece', () => flipped(headerBytes + pieceBytes + 5), 'its 2. piece is not where'],
    ['another bit in a tag', () => flipped(headerBytes + pieceBytes - 1), 'its 1. piece is not where'],
    ['another beginning of nonces', () => flipped(headerBytes - 1), 'its 1. piece is not where'],
    ['another salt', () => flipped(25), 'was encrypted with another key'],
    ['another first byte', () => flipped(0), 'does not begin as an encrypted backup does'],
    [
      'a beginning that is cut off',
      () => bytes.subarray(0, headerBytes - 1),
      'does not begin as an encrypted backup does',
    ],
  ];
  for (const [what, changed, message] of faults) {
    it(`is refused with ${what}, although the manifest fits`, async () => {
      store(changed());
      expect(await failureOf(restore())).to.contain(message);
      expect(readdirSync(restored)).to.deep.equal([]);
    });
  }

  it('is refused when the manifest names another time, another size, or no encryption', async () => {
    store(bytes, { begun_at: '2026-01-01T00:00:00Z' });
    const manifest = readFileSync(join(backup, 'manifest.json'), 'utf8');
    expect(await failureOf(restore())).to.contain('its 1. piece is not where');
    await removeFolder(restored);
    store(bytes, { begun_at: (JSON.parse(manifest) as { begun_at: string }).begun_at });
    truncateSync(file, bytes.length - 1);
    expect(await failureOf(restore())).to.contain(`has ${bytes.length - 1} bytes instead of ${bytes.length}`);
    store(bytes, { encryption: { cipher: 'none' } });
    expect(await failureOf(restore())).to.contain('has another form');
  });

  it('is not taken for one that is not encrypted: with a key, only encrypted ones are restored', async () => {
    const plain = join(folder, 'plain');
    await makeBackup({ dataFolder, target: plain, version: '0.0.0', clock: systemClock });
    expect(await failureOf(restoreBackup({ backup: plain, dataFolder: restored, key }))).to.contain('is not encrypted');
    await restoreBackup({ backup: plain, dataFolder: restored });
  });

  it('is made and restored by the program behind both scripts, with the key in a file', () => {
    const keyFile = join(folder, 'key');
    writeFileSync(keyFile, `${key}\n`);
    const run = (environment: Record<string, string>, ...words: string[]) =>
      spawnSync(process.execPath, [backupProgram, ...words], {
        env: { ...process.env, ...environment },
        encoding: 'utf8',
      });
    const target = join(folder, 'by-program');
    const made = run({ DATA_DIR: dataFolder, BACKUP_KEY_FILE: keyFile }, 'make', target);
    expect(made.stderr).to.equal('');
    expect(made.stdout).to.contain('checked and encrypted');
    expect(run({ DATA_DIR: restored }, 'restore', target).stderr).to.contain('is encrypted: set BACKUP_KEY');
    expect(run({ DATA_DIR: restored, BACKUP_KEY: key }, 'restore', target).status).to.equal(0);
    expect(readdirSync(restored)).to.deep.equal(['log.db']);
  });

  it('is refused while another one has its snapshot in the data folder', async () => {
    const snapshot = join(dataFolder, 'backup.partial.db');
    writeFileSync(snapshot, '');
    const target = join(folder, 'second');
    const request = { dataFolder, target, version: '0.0.0', key, clock: systemClock };
    expect(await failureOf(makeBackup(request))).to.contain('another backup runs, or one was interrupted');
    expect(readdirSync(folder)).not.to.include.members(['second', 'second.partial']);
    expect(readdirSync(dataFolder)).to.include('backup.partial.db');
  });
});

describe('the key of backups', () => {
  let folder: string;
  before(async () => {
    folder = await temporaryFolder();
  });
  after(() => removeFolder(folder));

  it('comes from the environment or from the first line of a file, and has at least 16 characters', () => {
    const path = join(folder, 'key');
    writeFileSync(path, `${key}\nmore`);
    expect(readBackupKey({})).to.equal(undefined);
    expect(readBackupKey({ BACKUP_KEY: key })).to.equal(key);
    expect(readBackupKey({ BACKUP_KEY_FILE: path })).to.equal(key);
    expect(() => readBackupKey({ BACKUP_KEY: key.slice(1) })).to.throw('fewer than 16 characters');
    expect(() => readBackupKey({ BACKUP_KEY: key, BACKUP_KEY_FILE: path })).to.throw('are both set');
    expect(() => readBackupKey({ BACKUP_KEY_FILE: join(folder, 'none') })).to.throw('cannot be read');
  });
});
