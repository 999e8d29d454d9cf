/** One error of the lending API. */
export interface LendingError {
  readonly errorCode: number;
  /** Programs may compare it: docs/errors.md explains each one. */
  readonly errorReason: string;
  /** Where in the request. */
  readonly errorSource?: string;
}

/** Statuses after which the same request can succeed. */
const retryableStatuses: ReadonlySet<number> = new Set([0, 408, 429, 500, 502, 503, 504, 507]);

/** A request that failed: the service refused it, or there was no response. */
export class LendstreamError extends Error {
  override readonly name: string = 'LendstreamError';
  /** The status of the response; 0 when there was none, or when it broke off. */
  readonly status: number;
  /** What the service says about it, for people. */
  readonly detail: string;
  /** The code of a problem, for programs: docs/errors.md lists them. Empty when there is none. */
  readonly code: string;
  /** Whether the same request can succeed later. */
  readonly isRetryable: boolean;
  /** What the service asked to wait for. Milliseconds; 0 when it said nothing. */
  readonly retryAfterMilliseconds: number;
  /** The errors of the lending API; empty for others. */
  readonly errors: readonly LendingError[];
  /** The list that the response was, as for a publish request of which nothing was stored. */
  readonly items: readonly unknown[] | undefined;

  constructor(
    status: number,
    detail: string,
    options: {
      readonly code?: string;
      readonly retryAfterMilliseconds?: number;
      readonly errors?: readonly LendingError[];
      readonly items?: readonly unknown[] | undefined;
      readonly isRetryable?: boolean;
      readonly cause?: unknown;
    } = {},
  ) {
    super(status === 0 ? detail : `${status}: ${detail}`, { cause: options.cause });
    this.status = status;
    this.detail = detail;
    this.code = options.code ?? '';
    this.isRetryable = options.isRetryable ?? retryableStatuses.has(status);
    this.retryAfterMilliseconds = options.retryAfterMilliseconds ?? 0;
    this.errors = options.errors ?? [];
    this.items = options.items;
  }
}

/** The error that a response stands for. Reads its body. */
export async function errorOf(response: Response): Promise<LendstreamError> {
  const seconds = Number(response.headers.get('Retry-After') ?? '0');
  const retryAfterMilliseconds = Number.isFinite(seconds) ? seconds * 1_000 : 0;
  const text = await response.text().catch(() => '');
  const value = jsonIn(text);
  const body = typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  const errors = Array.isArray(body['errors']) ? (body['errors'] as LendingError[]) : [];
  const described = errors.map(({ errorReason, errorSource = '' }) =>
    errorSource === '' ? errorReason : `${errorReason} (${errorSource})`,
  );
  const texts = [
    described.join(', '),
    body['detail'],
    body['title'],
    response.statusText,
    'The service gave no reason',
  ];
  const detail = texts.find((each) => typeof each === 'string' && each.trim() !== '') as string;
  return new LendstreamError(response.status, detail.trim(), {
    code: typeof body['code'] === 'string' ? body['code'] : '',
    retryAfterMilliseconds,
    errors,
    items: Array.isArray(value) ? value : undefined,
  });
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The one line that says why there was no response. */
export function noResponse(url: string, cause: unknown): LendstreamError {
  const reason = cause instanceof Error ? (reasonOf(cause.cause) ?? cause.message) : String(cause);
  return new LendstreamError(0, `${url} does not respond: ${reason}`, { cause });
}

/** What lies behind the "fetch failed" of Node.js. */
function reasonOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error)) return undefined;
  return cause.message === '' ? (cause as { readonly code?: string }).code : cause.message;
}
