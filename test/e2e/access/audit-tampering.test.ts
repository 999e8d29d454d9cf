import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../../src/clock.ts';
import { readConfig } from '../../../src/config.ts';
import { makeBackup } from '../../../src/embedded/backup/make-backup.ts';
import { restoreBackup } from '../../../src/embedded/backup/restore-backup.ts';
import { bodyOfRow, type BatchRow } from '../../../src/embedded/records/batch-format.ts';
import { checksumOf } from '../../../src/embedded/records/checksum.ts';
import { silentLogger } from '../../../src/logger.ts';
import { openDatabase, type Connection } from '../../../src/sqlite.ts';
import { runHere } from '../../command-line/run-here.ts';
import type { Ended } from '../../command-line/started-program.ts';
import { createKey } from '../../support/access/created-key.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';
import { createAppHere } from '../../support/processes/service-here.ts';

const administrator = 'the-key-of-an-administrator';
const auditor = 'the-key-of-an-auditor';

/** A running service, by its address. */
interface Service {
  readonly url: string;
}

/** The changes of the audit, each with two records. */
const changes = ['first', 'second', 'third', 'fourth'];

interface StoredRow {
  readonly id: number;
  readonly partition_id: number;
  readonly last_offset: number;
  readonly appended_at: number;
  readonly base_offset: number;
  readonly record_count: number;
  readonly checksum: number;
  readonly body: Uint8Array;
}

describe('an audit that was tampered with', function () {
  this.timeout(120_000);
  let root: string;
  let original: string;
  let anchor: string;
  let backup: string;

  before(async () => {
    root = await temporaryFolder();
    [original, anchor, backup] = [join(root, 'original'), join(root, 'anchor.json'), join(root, 'backup')];
    await withService(original, async (service) => {
      await createKeys(service, changes.slice(0, 2));
      await makeBackup({
        dataFolder: original,
        target: backup,
        version: 'test',
        clock: systemClock,
      });
      await createKeys(service, changes.slice(2));
      const { code, messages } = await verify(service, '--anchor', anchor);
      expect(code, messages).to.equal(0);
    });
  });

  after(() => removeFolder(root));

  async function withService<Result>(folder: string, work: (service: Service) => Promise<Result>): Promise<Result> {
    const settings = { DATA_DIR: folder, PORT: '0', API_KEYS: `${administrator},${auditor}`, ROLES: 'serve' };
    const app = await createAppHere(readConfig(settings), silentLogger);
    try {
      return await work({ url: await app.start() });
    } finally {
      await app.stop();
    }
  }

  async function createKeys({ url }: Service, names: readonly string[]): Promise<void> {
    for (const name of names) {
      await createKey(url, administrator, { name, owning_application: 'shop', scopes: ['consumer'] });
    }
  }

  function verify({ url }: Service, ...words: readonly string[]): Promise<Ended> {
    const environment = { LENDSTREAM_URL: url, LENDSTREAM_API_KEY: auditor };
    return runHere(['audit', 'verify', ...words], environment);
  }

  interface Checks {
    readonly alone: Ended;
    /** With the last records of the check of the original. */
    readonly anchored: Ended;
  }

  /** The checks of a copy of the store, which is changed before a service opens it. */
  async function checksOfChanged(
    name: string,
    change: (database: Connection, rows: readonly StoredRow[]) => void,
  ): Promise<Checks> {
    const folder = join(root, name);
    await cp(original, folder, { recursive: true });
    const database = openDatabase(join(folder, 'log.db'), { mustExist: true });
    try {
      change(database, rowsOfAudit(database));
    } finally {
      database.close();
    }
    return withService(folder, async (service) => {
      const [alone, anchored] = await Promise.all([verify(service), verify(service, '--anchor', anchor)]);
      return { alone, anchored };
    });
  }

  it('is whole before', async () => {
    const { alone, anchored } = await checksOfChanged('copy', () => undefined);
    expect([alone.code, alone.messages, anchored.code, anchored.messages]).to.deep.equal([0, '', 0, '']);
  });

  it('names the record behind one that was changed and has the right checksum', async () => {
    const { alone } = await checksOfChanged('changed', (database, rows) => {
      changeText(database, rowWith(rows, '"name":"second"'), '"name":"second"', '"name":"nobody"');
    });
    expect(alone.code, alone.messages).to.equal(4);
    expect(alone.messages, alone.messages).to.match(
      /partition \d: the record at \S*0*3 does not follow record 3 as it is now/,
    );
  });

  it('names with an anchor the last record, when that was changed', async () => {
    const { alone, anchored } = await checksOfChanged('changed-end', (database, rows) => {
      changeText(database, rows.at(-1) as StoredRow, '"outcome":"done"', '"outcome":"gone"');
    });
    expect([alone.code, alone.messages]).to.deep.equal([0, '']);
    expect(anchored.code, anchored.messages).to.equal(4);
    expect(anchored.messages).to.match(/partition \d: the record at \S*0*7 is not the one of the last check/);
  });

  it('shows with an anchor that the end was cut off', async () => {
    const { alone, anchored } = await checksOfChanged('cut', (database, rows) => {
      for (const row of rows.slice(6)) database.prepare('DELETE FROM batch WHERE id = ?').run(row.id);
    });
    expect([alone.code, alone.messages]).to.deep.equal([0, '']);
    expect(anchored.code, anchored.messages).to.equal(4);
    expect(anchored.messages).to.match(
      /partition \d: record 8 was here at the last check, and the last one now is 6: /,
    );
  });

  it('names the record behind one that was removed', async () => {
    const { alone } = await checksOfChanged('removed', (database, rows) => {
      database.prepare('DELETE FROM batch WHERE id = ?').run((rows[3] as StoredRow).id);
    });
    expect(alone.code, alone.messages).to.equal(4);
    expect(alone.messages).to.match(/partition \d: the record at \S*0*4 has the number 5, and 4 was to come/);
  });

  it('shows with an anchor that an older backup was restored, also when it was written to since', async () => {
    const folder = join(root, 'restored');
    await restoreBackup({ backup, dataFolder: folder });
    await withService(folder, async (service) => {
      const alone = await verify(service);
      expect(alone.code, alone.messages).to.equal(0);
      const older = await verify(service, '--anchor', anchor);
      expect(older.code, older.messages).to.equal(4);
      expect(older.messages).to.match(/record 8 was here at the last check, and the last one now is 4: /);
      await createKeys(service, ['third', 'fourth', 'fifth']);
      const written = await verify(service, '--anchor', anchor);
      expect(written.code, written.messages).to.equal(4);
      expect(written.messages).to.match(/the record at \S*0*7 is not the one of the last check/);
    });
  });
});

function rowsOfAudit(database: Connection): StoredRow[] {
  const rows = database.prepare(`
    SELECT batch.* FROM batch
    JOIN partition ON partition.id = batch.partition_id
    JOIN topic ON topic.id = partition.topic_id
    WHERE topic.name LIKE '%lendstream.audit'
    ORDER BY base_offset`);
  const all = rows.all() as unknown as StoredRow[];
  expect(all.length, 'each record has a row of its own').to.equal(2 * changes.length);
  return all;
}

function bodyOf(row: StoredRow): Buffer {
  const stored: BatchRow = {
    partitionId: row.partition_id,
    baseOffset: row.base_offset,
    lastOffset: row.last_offset,
    appendedAt: row.appended_at,
    count: row.record_count,
    checksum: row.checksum,
    body: Buffer.from(row.body),
  };
  return bodyOfRow({ topic: 'lendstream.audit', partition: 0 }, stored);
}

/** The first row with this text. */
function rowWith(rows: readonly StoredRow[], text: string): StoredRow {
  const found = rows.find((row) => bodyOf(row).includes(text));
  if (found === undefined) throw new Error(`No record has ${text}`);
  return found;
}

/** Changes a record as the service would have stored it. @param to As long as what it replaces. */
function changeText(database: Connection, row: StoredRow, from: string, to: string): void {
  expect(to.length).to.equal(from.length);
  const body = Buffer.from(bodyOf(row));
  const at = body.indexOf(from);
  expect(at).to.be.above(0);
  body.write(to, at);
  const update = database.prepare('UPDATE batch SET body = ?, body_bytes = ?, checksum = ? WHERE id = ?');
  update.run(body, body.length, checksumOf(body), row.id);
}
