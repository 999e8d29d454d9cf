/**
 * The one catalogue of errors.
 *
 * Every failure that leaves a module is a {@link LendstreamError} with a code of this table. Retry logic reads one bit,
 * `retriable`; HTTP reads `status` and `title`. A refused loan command is no error but a value (see
 * lending/refusals.ts).
 */
export const errorCatalogue = {
  // Mistakes of clients of the streaming API.
  MALFORMED_REQUEST: { status: 400, title: 'Bad Request', retriable: false },
  UNAUTHORIZED: { status: 401, title: 'Unauthorized', retriable: false },
  FORBIDDEN: { status: 403, title: 'Forbidden', retriable: false },
  PERMISSION_MISSING: { status: 403, title: 'Forbidden', retriable: false },
  NOT_FOUND: { status: 404, title: 'Not Found', retriable: false },
  METHOD_NOT_ALLOWED: { status: 405, title: 'Method Not Allowed', retriable: false },
  NOT_ACCEPTABLE: { status: 406, title: 'Not Acceptable', retriable: false },
  REQUEST_TIMEOUT: { status: 408, title: 'Request Timeout', retriable: false },
  CONFLICT: { status: 409, title: 'Conflict', retriable: false },
  GONE: { status: 410, title: 'Gone', retriable: false },
  PRECONDITION_FAILED: { status: 412, title: 'Precondition Failed', retriable: false },
  REQUEST_TOO_LARGE: { status: 413, title: 'Payload Too Large', retriable: false },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'Unsupported Media Type', retriable: false },
  MISDIRECTED_REQUEST: { status: 421, title: 'Misdirected Request', retriable: false },
  UNPROCESSABLE: { status: 422, title: 'Unprocessable Entity', retriable: false },
  TOO_MANY_REQUESTS: { status: 429, title: 'Too Many Requests', retriable: true },
  HEADERS_TOO_LARGE: { status: 431, title: 'Request Header Fields Too Large', retriable: false },
  NOT_IMPLEMENTED: { status: 501, title: 'Not Implemented', retriable: false },
  IDENTITY_PROVIDER_UNAVAILABLE: { status: 503, title: 'Service Unavailable', retriable: true },
  SWITCHED_OFF: { status: 503, title: 'Service Unavailable', retriable: true },
  OVERLOADED: { status: 503, title: 'Service Unavailable', retriable: true },
  INTERNAL: { status: 500, title: 'Internal Server Error', retriable: false },

  // What the event log may throw (see ports/event-log.ts).
  TOPIC_ALREADY_EXISTS: { status: 409, title: 'Conflict', retriable: false },
  UNKNOWN_TOPIC_OR_PARTITION: { status: 404, title: 'Not Found', retriable: false },
  OFFSET_OUT_OF_RANGE: { status: 412, title: 'Precondition Failed', retriable: false },
  RECORD_TOO_LARGE: { status: 422, title: 'Unprocessable Entity', retriable: false },
  CORRUPT_BATCH: { status: 500, title: 'Internal Server Error', retriable: false },
  WRITER_FENCED: { status: 500, title: 'Internal Server Error', retriable: false },
  OUTCOME_UNKNOWN: { status: 503, title: 'Service Unavailable', retriable: true },
  LOG_UNAVAILABLE: { status: 503, title: 'Service Unavailable', retriable: true },
  LOG_FULL: { status: 507, title: 'Insufficient Storage', retriable: true },
  LOG_CLOSED: { status: 503, title: 'Service Unavailable', retriable: true },

  // What the coordination store may throw (see ports/coordination.ts).
  COORDINATION_UNAVAILABLE: { status: 503, title: 'Service Unavailable', retriable: true },

  // Start-up: one clear line and exit code 1.
  CONFIGURATION_INVALID: { status: 500, title: 'Internal Server Error', retriable: false },
  DATA_FOLDER_IN_USE: { status: 500, title: 'Internal Server Error', retriable: false },
  DATA_FOLDER_UNUSABLE: { status: 500, title: 'Internal Server Error', retriable: false },
  ADDRESS_UNAVAILABLE: { status: 500, title: 'Internal Server Error', retriable: false },
} as const;

export type ErrorCode = keyof typeof errorCatalogue;

export interface ErrorOptions {
  readonly cause?: unknown;
  /** Facts for programs, e.g. the bounds of an out-of-range offset. Sent to clients only where a router says so. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/**
 * A failure with a code of {@link errorCatalogue}, which gives its HTTP status and title and whether a retry may help.
 */
export class LendstreamError extends Error {
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;

  /** @param detail One or more sentences for the person who has to act on it. */
  constructor(code: ErrorCode, detail: string, options: ErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'LendstreamError';
    this.code = code;
    this.details = options.details ?? {};
  }

  get status(): number {
    return errorCatalogue[this.code].status;
  }

  get title(): string {
    return errorCatalogue[this.code].title;
  }

  get retriable(): boolean {
    return errorCatalogue[this.code].retriable;
  }
}

/** One violation by one field of a request; all of them go into a single 422 response. */
export interface FieldViolation {
  /** The field's path as the client wrote it, snake_case, dotted. */
  readonly field: string;
  readonly message: string;
}

/** 422 for a request whose fields break the rules; its detail has one line per field. */
export class FieldViolations extends LendstreamError {
  readonly violations: readonly FieldViolation[];

  constructor(violations: readonly FieldViolation[]) {
    super('UNPROCESSABLE', violations.map(({ field, message }) => `Field "${field}" ${message}\n`).join(''));
    this.name = 'FieldViolations';
    this.violations = violations;
  }
}

/** Whether an error is a {@link LendstreamError}, and has this code if one is given. */
export function isLendstreamError(error: unknown, code?: ErrorCode): error is LendstreamError {
  return error instanceof LendstreamError && (code === undefined || error.code === code);
}

/** The text of anything thrown, for logs and for messages that wrap a cause. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Codes of Node.js for a certificate that the other side of a connection should not have. */
const untrustedCertificateCodes: ReadonlySet<unknown> = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** Whether a connection failed because the certificate of the other side is not trusted. */
export function isUntrustedCertificate(error: Error): boolean {
  return untrustedCertificateCodes.has((error as { readonly code?: unknown }).code);
}
