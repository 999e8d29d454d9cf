import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { createApp, type App } from '../../../src/app.ts';
import { readConfig } from '../../../src/config.ts';
import { isBelowApi, isMambuStreamingPath } from '../../../src/http/edge/request-paths.ts';
import { silentLogger } from '../../../src/logger.ts';
import { schemaFaults } from '../../support/http/response-contract.ts';
import { description, operations, resolved, type JsonObject } from '../../support/http/api-description.ts';
import { applicationAt, mountedIn } from '../../support/http/mounted-routes.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';

/** Pages for people, which are no API. */
const pages = /^\/(admin(\/|$)|$)/;

describe('the description of the API', () => {
  let folder: string;
  let app: App;
  let mounted: string[];

  before(async () => {
    folder = await temporaryFolder();
    app = await createApp(readConfig({ DATA_DIR: folder, HOST: '127.0.0.1', PORT: '0' }), silentLogger);
    const url = await app.start();
    mounted = mountedIn(await applicationAt(url))
      .routes
      // The lending API answers below /api as well, and what is not supported answers every method alike.
      .filter(({ method, path }) => method !== 'ALL' && (!isBelowApi(path) || isMambuStreamingPath(path)))
      .map(({ method, path }) => `${method.toLowerCase()} ${path}`);
  });

  after(async () => {
    await app.stop();
    await removeFolder(folder);
  });

  it('is valid OpenAPI 3.1 by the official schema', async () => {
    expect(await openApiFaults(description)).to.equal(undefined);
    const { responses, ...withoutResponses } = structuredClone(description['components']) as JsonObject;
    const faulty = {
      ...description,
      components: { ...withoutResponses, responses: { ...(responses as object), Bad: {} } },
    };
    expect(JSON.stringify(await openApiFaults(faulty))).to.include("must have required property 'description'");
  });

  it('describes every mounted route, and no other', () => {
    const described = operations.map(({ method, path }) => `${method} ${path}`);
    const routes = new Set(mounted.filter((route) => !pages.test(route.split(' ')[1] ?? '')));
    expect([...routes].sort()).to.deep.equal(described.sort());
  });

  it('names each operation once and puts it under a tag with a description', () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).to.equal(ids.length);
    const tags = (description['tags'] as { name: string }[]).map(({ name }) => name);
    const used = Object.values(description['paths'] as Record<string, Record<string, { tags?: string[] }>>).flatMap(
      (item) => Object.values(item).flatMap(({ tags: own }) => own ?? []),
    );
    expect([...new Set(used)]).to.have.members(tags);
  });

  it('has a parameter for each part of a path, and an example for each', () => {
    for (const { path, parameters } of operations) {
      const named = parameters.filter((parameter) => parameter.in === 'path');
      const parts = [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1]);
      expect(named.map(({ name }) => name)).to.have.members(parts, path);
      for (const { schema, example } of named) expect(schemaFaults(schema, example), path).to.deep.equal([]);
    }
  });

  it('has a schema for every body, all of which can be compiled', () => {
    for (const { responses, requestBody } of operations) {
      const contents = [requestBody, ...Object.values(responses)].flatMap((body) => Object.values(body?.content ?? {}));
      for (const { schema } of contents) schemaFaults(schema, undefined);
    }
  });

  it('has examples that match their schemas, except those of refused requests', () => {
    for (const { operationId, requestBody, responses } of operations) {
      for (const { schema, examples } of Object.values(requestBody?.content ?? {})) {
        for (const [name, { value, 'x-status': status }] of Object.entries(examples)) {
          if (status < 400) expect(schemaFaults(schema, value), `${operationId}, ${name}`).to.deep.equal([]);
        }
      }
      for (const [status, { content }] of Object.entries(responses)) {
        for (const media of Object.values(content ?? {})) {
          const { schema, examples = {} } = media as { schema: JsonObject; examples?: Record<string, JsonObject> };
          for (const example of Object.values(examples)) {
            expect(schemaFaults(schema, example['value']), `${operationId}, ${status}`).to.deep.equal([]);
          }
        }
      }
    }
  });

  it('has no reference without a target', () => {
    const references = [...JSON.stringify(description).matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1]);
    expect(references).to.have.length.greaterThan(100);
    for (const $ref of references) expect(resolved({ $ref }), $ref).to.be.an('object');
  });
});

/** The errors found by the official schema; undefined for none. */
async function openApiFaults(document: JsonObject): Promise<unknown> {
  const validator = new Validator();
  // The library changes its argument.
  const { errors } = await validator.validate(structuredClone(document));
  expect(validator.version).to.equal('3.1');
  return errors;
}
