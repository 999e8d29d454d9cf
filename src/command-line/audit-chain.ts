import { createHash } from 'node:crypto';
import { stringifyExact } from '../client/client.ts';

/** Checking the chain of one partition of the audit, record by record. No I/O. */

/** In place of a hash, in the first record of a chain. */
const noPreviousHash = '0'.repeat(64);

/** A record of a chain, by which it can be recognised later. */
export interface ChainHead {
  readonly sequence: number;
  readonly hash: string;
}

/** What is wrong with a chain, and where. */
export interface ChainFault {
  /** The place of the record in the log; undefined where a record is missing at the end. */
  readonly offset: string | undefined;
  readonly message: string;
}

/** The chain of one partition as far as it was read. */
export class AuditChain {
  readonly #anchor: ChainHead | undefined;
  #first: number | undefined;
  #head: ChainHead | undefined;
  #isAnchorFound = false;
  #records = 0;
  readonly #faults: ChainFault[] = [];

  /** @param anchor The last record that an earlier check saw. */
  constructor(anchor?: ChainHead) {
    this.#anchor = anchor;
  }

  get records(): number {
    return this.#records;
  }

  /** The number of the first record: what was before has expired. Undefined while there is none. */
  get first(): number | undefined {
    return this.#first;
  }

  /** The last record. */
  get head(): ChainHead | undefined {
    return this.#head;
  }

  /** Takes the next record. @param event As the service sent it, with exact numbers. */
  take(offset: string, event: unknown): void {
    this.#records += 1;
    const { sequence, previousHash } = linkOf(event);
    const report = (message: string): void => void this.#faults.push({ offset, message });
    if (sequence === undefined || previousHash === undefined) {
      report('is no record of the service');
      return;
    }
    const before = this.#head;
    if (before === undefined) {
      this.#first = sequence;
      if (sequence === 1 && previousHash !== noPreviousHash) report('is the first record, and follows another one');
    } else if (sequence !== before.sequence + 1) {
      report(`has the number ${sequence}, and ${before.sequence + 1} was to come`);
    } else if (previousHash !== before.hash) {
      report(`does not follow record ${before.sequence} as it is now: one of them was changed`);
    }
    // The text that was stored: records are written in the one form in which JSON is read and written again.
    this.#head = { sequence, hash: createHash('sha256').update(stringifyExact(event)).digest('hex') };
    this.#compareWithAnchor(offset, this.#head);
  }

  /** Everything that is wrong, once all records were taken. */
  faults(): readonly ChainFault[] {
    const anchor = this.#anchor;
    if (anchor === undefined || this.#isAnchorFound) return this.#faults;
    const last = this.#head?.sequence ?? 0;
    // What was checked earlier may have expired since, but only together with everything before it.
    if (this.#first !== undefined && this.#first > anchor.sequence) return this.#faults;
    const message = `record ${anchor.sequence} was here at the last check, and the last one now is ${last}: the audit was cut off, or an older backup was restored`;
    return [...this.#faults, { offset: undefined, message }];
  }

  #compareWithAnchor(offset: string, head: ChainHead): void {
    if (head.sequence !== this.#anchor?.sequence) return;
    this.#isAnchorFound = true;
    if (head.hash === this.#anchor.hash) return;
    const message = 'is not the one of the last check: it was changed, or an older backup was restored';
    this.#faults.push({ offset, message });
  }
}

function linkOf(event: unknown): { readonly sequence: number | undefined; readonly previousHash: string | undefined } {
  const { sequence, previous_hash: hash } = (typeof event === 'object' && event !== null ? event : {}) as {
    readonly sequence?: unknown;
    readonly previous_hash?: unknown;
  };
  const number = Number(sequence);
  return {
    sequence: Number.isSafeInteger(number) && number > 0 ? number : undefined,
    previousHash: typeof hash === 'string' ? hash : undefined,
  };
}
