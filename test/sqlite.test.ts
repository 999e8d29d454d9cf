import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LendstreamError } from '../src/errors.ts';
import { databaseErrorKind, openDatabase, withoutNul } from '../src/sqlite.ts';

describe('SQLite', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lendstream-sqlite-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const file = (name = 'some.db'): string => join(folder, name);

  function kindOf(work: () => void): string {
    try {
      work();
    } catch (error) {
      return databaseErrorKind(error);
    }
    return 'none';
  }

  it('has a version in which restarting the write-ahead log loses no page', () => {
    const database = openDatabase(file(), { returnArrays: true });
    const [version] = database.prepare('SELECT sqlite_version()').get() as [string];
    database.close();
    const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
    expect(major * 1e6 + minor * 1e3 + patch).to.be.at.least(3_051_003);
  });

  it('keeps byte values whether they are whole buffers, views or empty, and gives each row its own memory', () => {
    const database = openDatabase(file(), { returnArrays: true });
    database.exec('CREATE TABLE bytes (id INTEGER PRIMARY KEY, value BLOB NOT NULL) STRICT');
    const insert = database.prepare('INSERT INTO bytes (value) VALUES (?)');
    insert.run(Buffer.from('alone'));
    insert.run(Buffer.from('a view of others').subarray(2, 6));
    insert.run(new Uint8Array());
    const rows = database.prepare('SELECT value FROM bytes ORDER BY id').all() as [Uint8Array][];
    database.close();
    expect(rows.map(([value]) => Buffer.from(value).toString())).to.deep.equal(['alone', 'view', '']);
    expect(rows.map(([{ buffer, length }]) => buffer.byteLength - length)).to.deep.equal([0, 0, 0]);
  });

  it('throws for a value that it cannot bind, and stays usable', () => {
    const database = openDatabase(file(), { returnArrays: true });
    expect(() => database.prepare('SELECT ?').get({ an: 'object' })).to.throw();
    expect(() => database.prepare('SELECT ?').get(undefined)).to.throw();
    expect(database.prepare('SELECT ?').get(2 ** 53 - 1)).to.deep.equal([2 ** 53 - 1]);
    database.close();
  });

  it('opens an existing file whatever its name, and creates none', async () => {
    for (const name of ['missing.db', 'per cent %41 ? #.db']) {
      expect(kindOf(() => openDatabase(file(name), { mustExist: true }).close())).to.equal('failed');
      expect(await readdir(folder)).not.to.include(name);
      openDatabase(file(name)).exec('CREATE TABLE numbers (value INTEGER) STRICT; INSERT INTO numbers VALUES (7)');
      const database = openDatabase(file(name), { mustExist: true, returnArrays: true });
      expect(database.prepare('SELECT value FROM numbers').all()).to.deep.equal([[7]]);
      database.exec('INSERT INTO numbers VALUES (8)');
      database.close();
    }
  });

  describe('names the kind of a failure', () => {
    it('full: the file has reached its maximum size', () => {
      const database = openDatabase(file());
      database.exec('CREATE TABLE bytes (value BLOB) STRICT; PRAGMA max_page_count = 2;');
      const insert = 'INSERT INTO bytes VALUES (zeroblob(100000)) RETURNING 1';
      expect(kindOf(() => database.exec(insert))).to.equal('full');
      expect(kindOf(() => void database.prepare(insert).run())).to.equal('full');
      expect(kindOf(() => void database.prepare(insert).all())).to.equal('full');
      database.close();
    });

    it('busy: another connection holds it', () => {
      const holder = openDatabase(file());
      holder.exec('CREATE TABLE numbers (value INTEGER) STRICT; BEGIN EXCLUSIVE');
      const database = openDatabase(file());
      expect(kindOf(() => database.exec('BEGIN EXCLUSIVE'))).to.equal('busy');
      expect(kindOf(() => void database.prepare('SELECT * FROM numbers').all())).to.equal('busy');
      database.close();
      holder.close();
    });

    it('damaged: the file is no database, or bytes in the middle were changed', async () => {
      await writeFile(file(), 'no database at all, and longer than a header'.repeat(100));
      expect(kindOf(() => openDatabase(file()).exec('SELECT * FROM sqlite_schema'))).to.equal('damaged');

      const database = openDatabase(file('other.db'));
      database.exec('CREATE TABLE texts (value TEXT) STRICT');
      const insert = database.prepare('INSERT INTO texts VALUES (?)');
      for (let at = 0; at < 1_000; at += 1) insert.run('some text '.repeat(20));
      database.close();
      const bytes = await readFile(file('other.db'));
      bytes.fill(0xff, bytes.length / 2, bytes.length / 2 + 4_096);
      await writeFile(file('other.db'), bytes);
      const damaged = openDatabase(file('other.db'));
      const sum = damaged.prepare('SELECT sum(length(value)) FROM texts');
      expect(kindOf(() => void sum.all())).to.equal('damaged');
      expect(kindOf(() => void sum.get())).to.equal('damaged');
      expect(kindOf(() => damaged.exec('INSERT INTO texts SELECT value FROM texts'))).to.equal('damaged');
      damaged.close();
    });

    it('failed: the file cannot be opened', () => {
      expect(kindOf(() => openDatabase(join(folder, 'missing', 'some.db')))).to.equal('failed');
    });

    it('constraint: a second row has the key of the first, also when only an index made later says so', () => {
      const database = openDatabase(file());
      database.exec('CREATE TABLE numbers (value INTEGER PRIMARY KEY, other INTEGER) STRICT');
      database.exec('INSERT INTO numbers VALUES (1, 7), (2, 7)');
      expect(kindOf(() => database.exec('INSERT INTO numbers VALUES (1, 8)'))).to.equal('constraint');
      const insert = database.prepare('INSERT INTO numbers VALUES (1, 8)');
      expect(kindOf(() => void insert.run())).to.equal('constraint');
      expect(kindOf(() => database.exec('CREATE UNIQUE INDEX others ON numbers (other)'))).to.equal('constraint');
      database.close();
    });

    it('other: a wrong statement, and errors that are not from the database', () => {
      const database = openDatabase(file());
      expect(kindOf(() => database.exec('nonsense'))).to.equal('other');
      database.close();
      expect(databaseErrorKind(new LendstreamError('LOG_FULL', 'full'))).to.equal('other');
      expect(databaseErrorKind('full')).to.equal('other');
    });
  });

  it('distinguishes texts that differ only after a NUL character', () => {
    const texts = ['a', 'a\0', 'a\0b', 'a\\0', 'a\\0b', 'a\\', 'a\\\0'];
    const database = openDatabase(file(), { returnArrays: true });
    database.exec('CREATE TABLE texts (value TEXT PRIMARY KEY) STRICT');
    for (const text of texts) database.prepare('INSERT INTO texts VALUES (?)').run(withoutNul(text));
    const count = database.prepare('SELECT count(*) FROM texts WHERE value = ?');
    for (const text of texts) expect(count.get(withoutNul(text))).to.deep.equal([1]);
    database.close();
  });
});
