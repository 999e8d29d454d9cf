import type { Response } from 'express';
import type { Socket } from 'node:net';

/** How much memory request bodies may take at once. Bytes. */
export interface BodyBudget {
  /** A body up to this size is small: commits, commands, definitions, most events. */
  readonly smallBodyBytes: number;
  /** All small bodies of the process. They have a budget of their own so that large ones never hold them up. */
  readonly smallBytesMaximum: number;
  /** All other bodies of the process. */
  readonly largeBytesMaximum: number;
  /** All bodies of one connection, on which a client may send requests without waiting for responses. */
  readonly connectionBytesMaximum: number;
}

const mebibyte = 1024 * 1024;

export const bodyBudgetDefault: BodyBudget = {
  smallBodyBytes: 64 * 1024,
  smallBytesMaximum: 16 * mebibyte,
  largeBytesMaximum: 256 * mebibyte,
  // A compressed body of the largest size, its unpacked content, and the body of the next request.
  connectionBytesMaximum: 24 * mebibyte,
};

export const bodyBudgetNames = ['connection', 'small', 'large'] as const;

/** What one client may have of the bodies in progress, beside the budgets of the process. */
export interface BodyAllowance {
  /** Changes the counted size of a body. Returns false, and changes nothing, when it would grow beyond the limit. */
  resizeBody(before: number, after: number): boolean;
  /** The refusal of such a body. */
  tooManyBytes(): Error;
}

/** Where the response keeps the allowance of the sender of its request. */
const allowanceName = 'bodyAllowance';

/** Limits the bodies that the sender of a response's request may have in progress. */
export function setBodyAllowance(response: Response, allowance: BodyAllowance): void {
  response.locals[allowanceName] = allowance;
}

/** The allowance of the sender of a response's request; undefined when only the budgets of the process count. */
export function bodyAllowanceOf(response: Response | undefined): BodyAllowance | undefined {
  return response?.locals[allowanceName] as BodyAllowance | undefined;
}

/** Which budget had no more room for a body. */
export type ExhaustedBudget = (typeof bodyBudgetNames)[number];

/**
 * Counts the bytes of the bodies that are being received, and of those whose requests have no complete response yet.
 */
export class BodiesInFlight {
  readonly #budget: BodyBudget;
  readonly #bytesByConnection = new WeakMap<Socket, number>();
  readonly #refusalListeners = new Set<(exhausted: ExhaustedBudget) => void>();
  #smallBytes = 0;
  #largeBytes = 0;

  constructor(budget: BodyBudget = bodyBudgetDefault) {
    this.#budget = budget;
  }

  /** All bytes that are counted now. */
  get bytes(): number {
    return this.#smallBytes + this.#largeBytes;
  }

  /** Calls the listener for each refused body, until the returned function is called. */
  onRefused(listener: (exhausted: ExhaustedBudget) => void): () => void {
    this.#refusalListeners.add(listener);
    return () => this.#refusalListeners.delete(listener);
  }

  /** A claim of no bytes yet, for one request. */
  claim(socket: Socket, allowance?: BodyAllowance): BodyClaim {
    return new BodyClaim(this, socket, allowance);
  }

  /**
   * Changes the counted size of a body. Returns false, and changes nothing, when it would grow beyond a budget.
   * @param before Bytes, as is `after`.
   */
  change(socket: Socket, before: number, after: number): boolean {
    const { smallBytesMaximum, largeBytesMaximum, connectionBytesMaximum } = this.#budget;
    const connectionBytes = (this.#bytesByConnection.get(socket) ?? 0) + after - before;
    const smallBytes = this.#smallBytes + this.#smallShare(after) - this.#smallShare(before);
    const largeBytes = this.#largeBytes + this.#largeShare(after) - this.#largeShare(before);
    const isTooMuch =
      connectionBytes > connectionBytesMaximum || smallBytes > smallBytesMaximum || largeBytes > largeBytesMaximum;
    if (after > before && isTooMuch) {
      const processBudget = smallBytes > smallBytesMaximum ? 'small' : 'large';
      const exhausted = connectionBytes > connectionBytesMaximum ? 'connection' : processBudget;
      for (const listener of this.#refusalListeners) listener(exhausted);
      return false;
    }
    this.#bytesByConnection.set(socket, connectionBytes);
    this.#smallBytes = smallBytes;
    this.#largeBytes = largeBytes;
    return true;
  }

  #smallShare(bytes: number): number {
    return bytes <= this.#budget.smallBodyBytes ? bytes : 0;
  }

  #largeShare(bytes: number): number {
    return bytes <= this.#budget.smallBodyBytes ? 0 : bytes;
  }
}

/** The bytes that the body of one request takes from the budget. */
export class BodyClaim {
  readonly #bodies: BodiesInFlight;
  readonly #socket: Socket;
  readonly #allowance: BodyAllowance | undefined;
  #bytes = 0;
  #isReleased = false;
  #refusal: Error | undefined;

  constructor(bodies: BodiesInFlight, socket: Socket, allowance: BodyAllowance | undefined) {
    this.#bodies = bodies;
    this.#socket = socket;
    this.#allowance = allowance;
  }

  /** Why {@link resize} returned false, when it was the client's own limit. */
  get refusal(): Error | undefined {
    return this.#refusal;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Sets the claim to this many bytes in all. Returns false, and changes nothing, when the budget has no more or the
   * claim was released.
   */
  resize(bytes: number): boolean {
    if (this.#isReleased) return false;
    if (bytes === this.#bytes) return true;
    if (this.#allowance?.resizeBody(this.#bytes, bytes) === false) {
      this.#refusal = this.#allowance.tooManyBytes();
      return false;
    }
    if (this.#bodies.change(this.#socket, this.#bytes, bytes)) {
      this.#bytes = bytes;
      return true;
    }
    this.#allowance?.resizeBody(bytes, this.#bytes);
    return false;
  }

  /** Gives everything back. The claim cannot grow again. */
  release(): void {
    this.resize(0);
    this.#isReleased = true;
  }
}

/** The request bodies of this process. */
export const bodiesInFlight = new BodiesInFlight();
