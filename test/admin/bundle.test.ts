import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { adminBundleFolder } from '../../src/http/edge/admin-page.ts';

/** The maximum size of all files of the page together, as they are sent. Bytes. */
const bundleBytesMaximum = 300 * 1024;

/** The maximum size of what the first page needs: the others load the editor and the charts when they show them. */
const firstPageBytesMaximum = 100 * 1024;

describe('the bundle of the admin page', () => {
  const files = readdirSync(adminBundleFolder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.includes('.'))
    .map((name) => ({ name, bytes: readFileSync(join(adminBundleFolder, name)) }));

  function sentBytes(sent: readonly { readonly bytes: Buffer }[]): number {
    return sent.map(({ bytes }) => gzipSync(bytes).length).reduce((sum, length) => sum + length, 0);
  }

  it('is small', () => {
    expect(files.map(({ name }) => name)).to.include('index.html');
    expect(sentBytes(files)).to.be.lessThan(bundleBytesMaximum);
    const page = files.find(({ name }) => name === 'index.html')?.bytes.toString() ?? '';
    const first = files.filter(({ name }) => name === 'index.html' || page.includes(name));
    expect(first.length, 'the page, its script, its stylesheet and its icon').to.equal(4);
    expect(sentBytes(first)).to.be.lessThan(firstPageBytesMaximum);
  });

  it('contains no address of another site', () => {
    const addresses = files.flatMap(({ bytes }) => bytes.toString().match(/https?:\/\/[^\s"'`)]+/g) ?? []);
    // Names of XML vocabularies and of JSON Schemas, which are not requested.
    const names = /^(?:http:\/\/www\.w3\.org|https:\/\/json-schema\.org|https:\/\/lendstream\.example)\//;
    expect(addresses.filter((address) => !names.test(address))).to.deep.equal([]);
  });
});
