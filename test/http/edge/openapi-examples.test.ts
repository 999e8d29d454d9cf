import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { operations, type Example, type Operation } from '../../support/http/api-description.ts';
import { responseFaults } from '../../support/http/response-contract.ts';
import { openStream, type OpenStream } from '../../support/http/client.ts';
import { examplesOf, queryOf, requestOf, valuesOf } from '../../support/http/example-requests.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../../support/processes/service.ts';

/**
 * Sends every example of the description in the order of the document. At the end it deletes what it created, the last
 * first. Commits use a stream that is open meanwhile.
 */
/** The operation that commits what a stream sent, and the one that opened the stream. */
const openedBy = new Map([
  ['commitCursors', 'openStream'],
  ['commitMambuCursorsV1', 'openMambuStreamV1'],
  ['commitMambuCursorsV2', 'openMambuStreamV2'],
]);

describe('the examples of the description', () => {
  let folder: string;
  let service: Service;
  /** By the operation that opened it. */
  const streams = new Map<string, OpenStream>();

  before(async () => {
    folder = await temporaryFolder();
    service = await startService(folder);
  });

  after(async () => {
    for (const stream of streams.values()) stream.close();
    await service.stop();
    await removeFolder(folder);
  });

  const deleting = operations.filter(({ method }) => method === 'delete').toReversed();
  for (const operation of [...operations.filter(({ method }) => method !== 'delete'), ...deleting]) {
    for (const [name, example] of examplesOf(operation)) {
      it(`${operation.operationId}${name === '' ? '' : `, ${name}`} is answered ${example['x-status']}`, async () => {
        if ([...openedBy.values()].includes(operation.operationId)) await open(operation, example);
        else await send(operation, example);
      });
    }
  }

  function streamHeaders({ operationId, parameters }: Operation): Record<string, string> {
    const streamId = streams.get(openedBy.get(operationId) ?? '')?.streamId;
    const header = parameters.find(({ name }) => name.endsWith('-StreamId'))?.name;
    return streamId === undefined || header === undefined ? {} : { [header]: streamId };
  }

  async function open(operation: Operation, example: Example): Promise<void> {
    const { operationId, path } = operation;
    const id = valuesOf(operation, example)['id'] ?? '';
    const [subscriptions = ''] = path.split('/{id}');
    const { headers } = requestOf(operation, example);
    const stream = await openStream(service.url, id, queryOf(operation), subscriptions, headers);
    streams.set(operationId, stream);
    await stream.until((batches) => batches.some(({ events }) => events !== undefined));
  }

  async function send(operation: Operation, example: Example): Promise<void> {
    const { method, path, headers, body: sent } = requestOf(operation, example);
    const closing = new AbortController();
    const response = await fetch(`${service.url}${path}`, {
      method,
      headers: {
        ...headers,
        ...streamHeaders(operation),
      },
      signal: closing.signal,
      ...(sent === undefined ? {} : { body: sent }),
    });
    const isStreaming = operation.isStream && response.status === 200;
    const body = isStreaming ? '' : await response.text();
    closing.abort();
    expect(response.status, body).to.equal(example['x-status']);
    const seenResponse = {
      method,
      url: path,
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body,
    };
    expect(responseFaults(seenResponse)).to.deep.equal([]);
  }
});
