import { BoundedMap } from '../../bounded-map.ts';
import type { Clock } from '../../clock.ts';
import type { Principal } from '../principal.ts';
import { keyLimitNames, withoutLimits, type KeyLimits } from './key-limits.ts';
import { RefusalPace } from './held-refusals.ts';
import { TokenBucket } from './token-bucket.ts';
import { tooManyRequests } from './too-many-requests.ts';
import { WorkTurns } from './work-turns.ts';

/** Work on fewer bytes takes less than a millisecond, and begins at once. */
const largeWorkBytes = 16 * 1024;

/** What one principal uses of this process, against its limits. */
export class Usage {
  /** How fast this process refuses it. */
  readonly refusals = new RefusalPace();
  readonly #turns: WorkTurns;
  readonly #clock: Clock;
  readonly #name: string;
  #limits: KeyLimits;
  #requests: TokenBucket;
  #commits: TokenBucket;
  #bodyBytes = 0;
  #streams = 0;

  /** @param name What refusals call the principal. @param turns Those of all principals of the process. */
  constructor(name: string, limits: KeyLimits, clock: Clock, turns = new WorkTurns(clock)) {
    this.#turns = turns;
    this.#name = name;
    this.#clock = clock;
    this.#limits = limits;
    this.#requests = new TokenBucket(limits.requests_per_second, clock.monotonic());
    this.#commits = new TokenBucket(limits.commits_per_second, clock.monotonic());
  }

  get limits(): KeyLimits {
    return this.#limits;
  }

  /** Bytes of bodies in progress. */
  get bodyBytes(): number {
    return this.#bodyBytes;
  }

  get openStreams(): number {
    return this.#streams;
  }

  /** Goes on with other limits; what is in use stays counted. */
  changeLimits(limits: KeyLimits): void {
    const now = this.#clock.monotonic();
    this.#limits = limits;
    this.#requests = new TokenBucket(limits.requests_per_second, now);
    this.#commits = new TokenBucket(limits.commits_per_second, now);
  }

  /** Counts a request. @throws TOO_MANY_REQUESTS */
  countRequest(): void {
    this.#turns.noteRequest(this);
    const wait = this.#requests.take(this.#clock.monotonic());
    if (wait > 0) throw this.#tooOften('requests_per_second', 'requests', wait);
  }

  /** Counts a commit. @throws TOO_MANY_REQUESTS */
  countCommit(): void {
    const wait = this.#commits.take(this.#clock.monotonic());
    if (wait > 0) throw this.#tooOften('commits_per_second', 'commits', wait);
  }

  /** Changes the counted size of a body. Returns false, and changes nothing, when it would grow beyond the limit. */
  resizeBody(before: number, after: number): boolean {
    const bytes = this.#bodyBytes + after - before;
    if (after > before && bytes > this.#limits.body_bytes_in_flight) return false;
    this.#bodyBytes = bytes;
    return true;
  }

  /** The refusal of a body for which {@link resizeBody} has no room. */
  tooManyBytes(): Error {
    const limit = this.#limits.body_bytes_in_flight;
    const detail = `${this.#name} may have ${limit} bytes of request bodies in progress at once. Nothing was done.`;
    return tooManyRequests(detail, { name: 'body_bytes_in_flight', limit }, 0);
  }

  /** Counts a stream until the returned function is called. @throws TOO_MANY_REQUESTS */
  openStream(): () => void {
    const limit = this.#limits.open_streams;
    if (this.#streams >= limit) {
      const detail = `${this.#name} may have ${limit} streams open on one process.`;
      throw tooManyRequests(detail, { name: 'open_streams', limit }, 0);
    }
    this.#streams += 1;
    let isOpen = true;
    return () => {
      if (isOpen) this.#streams -= 1;
      isOpen = false;
    };
  }

  /**
   * Asks to begin work on so many bytes.
   * @returns undefined when it may begin at once, as all small work may; otherwise what resolves when it may
   */
  takeTurn(bytes: number): Promise<void> | undefined {
    // What came later must not overtake what waits.
    return bytes < largeWorkBytes && !this.#turns.isWaiting(this) ? undefined : this.#turns.take(this);
  }

  /** Lets others go first, in the middle of long work. */
  giveWay(): Promise<void> {
    return this.#turns.giveWay(this);
  }

  #tooOften(name: 'requests_per_second' | 'commits_per_second', what: string, waitMilliseconds: number): Error {
    const limit = this.#limits[name];
    const detail = `${this.#name} may send ${limit} ${what} a second to one process. Nothing was done.`;
    return tooManyRequests(detail, { name, limit, windowSeconds: 1 }, waitMilliseconds);
  }
}

/** The most principals whose usage is counted; those that sent nothing for the longest time are forgotten first. */
export const countedPrincipalsMaximum = 10_000;

/** The usage of every principal with limits. */
export class Usages {
  readonly #limits: KeyLimits;
  readonly #clock: Clock;
  readonly #turns: WorkTurns;
  /** By the object first: that of a key stays the same as long as the key does. */
  readonly #byPrincipal = new WeakMap<Principal, Usage>();
  readonly #byName = new BoundedMap<string, Usage>(countedPrincipalsMaximum);
  readonly #isAnonymousLimited: boolean;

  /** @param limits Of principals that name none themselves; infinite for no limit. */
  constructor(limits: KeyLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
    this.#turns = new WorkTurns(clock);
    this.#isAnonymousLimited = keyLimitNames.some((name) => limits[name] !== Infinity);
  }

  /**
   * The usage of a principal; undefined for one without limits: an administrator with a key of the settings, and all
   * clients of an open service together unless the settings limit them.
   */
  of(principal: Principal): Usage | undefined {
    const known = this.#byPrincipal.get(principal);
    if (known !== undefined) return known;
    const { kind } = principal.credential;
    if (kind === 'environment-key' || (kind === 'none' && !this.#isAnonymousLimited)) return undefined;
    return this.#newUsageOf(principal);
  }

  #newUsageOf(principal: Principal): Usage {
    const name = `${principal.credential.kind} ${principal.name}`;
    const limits = this.limitsOf(principal);
    const counted = this.#byName.get(name);
    const usage = counted ?? new Usage(principal.name, limits, this.#clock, this.#turns);
    // A key that was created again under the same name may have other limits.
    if (counted !== undefined && keyLimitNames.some((each) => counted.limits[each] !== limits[each])) {
      counted.changeLimits(limits);
    }
    this.#byName.set(name, usage);
    this.#byPrincipal.set(principal, usage);
    return usage;
  }

  /** The limits of a principal: its own where it has some, otherwise those of the settings. */
  limitsOf(principal: Principal): KeyLimits {
    if (principal.credential.kind === 'environment-key') return withoutLimits;
    return principal.limits === undefined ? this.#limits : { ...this.#limits, ...principal.limits };
  }
}
