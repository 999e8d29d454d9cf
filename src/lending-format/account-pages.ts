import { crc32 } from 'node:zlib';
import { LendstreamError } from '../errors.ts';
import { encodeLoan } from '../lending/changelog/stored-loan.ts';
import { type StoredPage, pagesOf } from '../lending/changelog/stored-pages.ts';
import type { Loan } from '../lending/loan.ts';
import { namedProduct } from './account-products.ts';

/**
 * An account and its pages, which are separate records of the changelog. The account ends with a checksum of its pages.
 * An account is never read with pages of another command, which a copy may have for a moment in the middle of a large
 * commit.
 */
export interface AccountRecords {
  readonly text: string;
  readonly pages: readonly StoredPage[];
}

const checksums = new WeakMap<StoredPage, number>();

/** The records of an account. */
export function encodeAccount(loan: Loan): AccountRecords {
  const pages = pagesOf(loan);
  const checksum = checksumOf(
    pages.map((page) => {
      const known = checksums.get(page);
      if (known !== undefined) return known;
      const computed = crc32(page.text);
      checksums.set(page, computed);
      return computed;
    }),
  );
  return { text: `${encodeLoan(loan, namedProduct(loan.product)).slice(0, -1)}${checksumField(checksum)}}`, pages };
}

/**
 * The whole account as one text, which `decodeLoan` reads.
 * @param text Of the account.
 * @param pages The texts of its pages, in the order of {@link AccountRecords.pages}.
 * @throws LOG_UNAVAILABLE when they are not the pages that belong to the account
 */
export function joinedAccount(text: string, pages: readonly string[]): string {
  const field = `${checksumField(checksumOf(pages.map((page) => crc32(page))))}}`;
  if (!text.endsWith(field)) {
    throw new LendstreamError('LOG_UNAVAILABLE', 'The account is being changed. Try again.');
  }
  return `${text.slice(0, -field.length)},"pages":[${pages.join(',')}]}`;
}

function checksumField(checksum: string): string {
  return `,"checksum":"${checksum}"`;
}

function checksumOf(pages: readonly number[]): string {
  return `${pages.length}-${crc32(pages.join()).toString(16)}`;
}
