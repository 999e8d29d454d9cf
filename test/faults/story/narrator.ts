import type { StoryCommand } from './loan-book.ts';
import { insist } from '../../support/insist.ts';
import { send, type ServiceNode, type TextResponse } from '../load-process.ts';

/** The last part of the path of each command that posts a transaction. */
const postingPaths: Readonly<Record<string, string>> = {
  DISBURSE: 'disbursement-transactions',
  REPAY: 'repayment-transactions',
  APPLY_FEE: 'fee-transactions',
  APPLY_PENALTY: 'penalty-transactions',
  PRINCIPAL_OVERPAYMENT: 'principal-overpayment-transactions',
};

/**
 * A system that recovers may answer so, and 404 about a transaction whose command is not decided yet. The same request
 * is sent again.
 */
const temporaryStatuses = [202, 207, 404, 409, 503];

/** The request of a command over HTTP. */
export function requestOf({ type, loanAccountId, payload }: Omit<StoryCommand, 'commandId'>): {
  readonly path: string;
  readonly body: object;
} {
  if (type === 'CREATE_LOAN') return { path: '/loans', body: { id: loanAccountId, ...payload } };
  if (type === 'CHANGE_STATE') return { path: `/loans/${loanAccountId}:changeState`, body: payload };
  if (type === 'ADJUST_TRANSACTION') {
    const { transactionId, ...body } = payload;
    return { path: `/loans/transactions/${String(transactionId)}:adjust`, body };
  }
  return { path: `/loans/${loanAccountId}/${postingPaths[type]}`, body: payload };
}

/** Tells a system the commands of the story, whatever happens to its processes: what is unanswered is sent again. */
export class Narrator {
  readonly #nodes: readonly ServiceNode[];
  #turn = 0;

  constructor(nodes: readonly ServiceNode[]) {
    this.#nodes = nodes;
  }

  /** Publishes commands to their topic as a producer does, in one request, until they are durable. */
  async publish(commands: readonly StoryCommand[]): Promise<void> {
    const events = commands.map(({ commandId, type, loanAccountId, payload }) => ({
      metadata: { eid: commandId, occurred_at: new Date().toISOString() },
      commandId,
      type,
      loanAccountId,
      payload,
    }));
    await this.#untilFinal('POST', '/event-types/lendstream.loan-commands/events', events, [200]);
  }

  /** Sends a command over HTTP under its Idempotency-Key, until it has a final response. */
  request(command: StoryCommand): Promise<TextResponse> {
    const { path, body } = requestOf(command);
    return this.#untilFinal('POST', path, body, [200, 201, 400], { 'Idempotency-Key': command.idempotencyKey ?? '' });
  }

  /** Creates something of a fixed id, until that is acknowledged. */
  async create(path: string, body: object): Promise<void> {
    await this.#untilFinal('POST', path, body, [201], { 'Idempotency-Key': path + JSON.stringify(body).slice(0, 50) });
  }

  /** Changes something that is there already, until that is acknowledged. */
  async put(path: string, body: object): Promise<void> {
    await this.#untilFinal('PUT', path, body, [200]);
  }

  /** The text of a resource, from any node. */
  async get(path: string): Promise<string> {
    return (await this.#untilFinal('GET', path, undefined, [200])).text;
  }

  async #untilFinal(
    method: string,
    path: string,
    body: unknown,
    finalStatuses: readonly number[],
    headers: Readonly<Record<string, string>> = {},
  ): Promise<TextResponse> {
    const response = await insist(async () => {
      this.#turn += 1;
      const node = this.#nodes[this.#turn % this.#nodes.length];
      if (node === undefined) throw new Error('A narrator needs nodes');
      const attempt = await send(node, method, path, body, headers);
      if ('noAnswer' in attempt) throw new Error(attempt.noAnswer);
      if (temporaryStatuses.includes(attempt.status)) throw new Error(`${attempt.status} ${attempt.text}`);
      return attempt;
    });
    if (finalStatuses.includes(response.status)) return response;
    throw new Error(`${method} ${path} was answered ${response.status}: ${response.text.slice(0, 500)}`);
  }
}
