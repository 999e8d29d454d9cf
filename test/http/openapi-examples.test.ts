import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { operations, type Example, type Operation, type Parameter } from '../support/api-description.ts';
import { answerFaults } from '../support/answer-contract.ts';
import { openStream, type OpenStream } from '../support/client.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../support/service.ts';

/** A parameter's value in a request. */
type Values = Readonly<Record<string, string>>;

/**
 * Sends every example of the description, in the order of the document, and deletes what it made at the end, the last
 * first. Commits are made with a stream that is open meanwhile.
 */
describe('the examples of the description', () => {
  let folder: string;
  let service: Service;
  let stream: OpenStream;

  before(async () => {
    folder = await temporaryFolder();
    service = await startService(folder);
  });

  after(async () => {
    stream.close();
    await service.stop();
    await removeFolder(folder);
  });

  const deleting = operations.filter(({ method }) => method === 'delete').toReversed();
  for (const operation of [...operations.filter(({ method }) => method !== 'delete'), ...deleting]) {
    for (const [name, example] of examplesOf(operation)) {
      it(`${operation.operationId}${name === '' ? '' : `, ${name}`} is answered ${example['x-status']}`, async () => {
        if (operation.operationId === 'openStream') {
          const id = valuesOf(operation, example)['id'] ?? '';
          stream = await openStream(service.url, id, queryOf(operation));
          await stream.until((batches) => batches.some(({ events }) => events !== undefined));
          return;
        }
        await send(operation, example);
      });
    }
  }

  async function send(operation: Operation, example: Example): Promise<void> {
    const headers: Record<string, string> = {};
    const values = valuesOf(operation, example);
    for (const parameter of operation.parameters) {
      const value = values[parameter.name];
      if (parameter.in === 'header' && value !== undefined) headers[parameter.name] = value;
    }
    if (operation.operationId === 'commitCursors') headers['X-Nakadi-StreamId'] = stream.streamId;
    if (operation.requestBody !== undefined) headers['Content-Type'] = 'application/json';
    const path = operation.path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));
    const closing = new AbortController();
    const response = await fetch(`${service.url}${path}${queryOf(operation)}`, {
      method: operation.method.toUpperCase(),
      headers,
      signal: closing.signal,
      ...(operation.requestBody === undefined ? {} : { body: JSON.stringify(example.value) }),
    });
    const isStreaming = operation.isStream && response.status === 200;
    const body = isStreaming ? '' : await response.text();
    closing.abort();
    expect(response.status, body).to.equal(example['x-status']);
    const answer = {
      method: operation.method.toUpperCase(),
      url: path,
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body,
    };
    expect(answerFaults(answer)).to.deep.equal([]);
  }
});

/** By name; an operation without a body has one that says nothing but its parameters. */
function examplesOf({ requestBody, method, responses }: Operation): [string, Example][] {
  const written = Object.values(requestBody?.content ?? {}).flatMap(({ examples }) => Object.entries(examples));
  const status = Number(Object.keys(responses)[0]);
  if (written.length > 0) return written;
  return [['', { value: undefined, 'x-status': method === 'delete' ? status : 200 }]];
}

function valuesOf({ parameters }: Operation, { 'x-parameters': own = {} }: Example): Values {
  const examples = parameters.flatMap(({ name, example }: Parameter) =>
    example === undefined ? [] : [[name, String(example)]],
  );
  return { ...(Object.fromEntries(examples) as Values), ...own };
}

function queryOf({ parameters }: Operation): string {
  const given = parameters.filter((parameter) => parameter.in === 'query' && parameter.example !== undefined);
  const query = given.map(({ name, example }) => `${name}=${encodeURIComponent(String(example))}`);
  return query.length === 0 ? '' : `?${query.join('&')}`;
}
