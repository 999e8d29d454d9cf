import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateClient, GeneratorUnavailable, type Language } from '../../../scripts/client/generated/generators.ts';
import { fencedBlocks } from '../../../scripts/docs/markdown.ts';
import { packageRoot } from '../../../src/package-root.ts';
import { operations } from '../../support/http/api-description.ts';
import { startServiceHere, type ServiceHere } from '../../support/processes/service-here.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';

/** Whether a generated text has an operation with the response of a status. */
type HasResponse = (operationId: string, status: string) => boolean;

/** What generators print when they leave something out. */
const omissions = /warning|omitted|skipping|unsupported/i;

describe('generated clients', function () {
  this.timeout(300_000);
  let dataFolder: string;
  let service: ServiceHere;
  let expected: string;
  const folders: string[] = [];

  before(async () => {
    dataFolder = await temporaryFolder();
    service = await startServiceHere(dataFolder);
    const markdown = await readFile(join(packageRoot, 'docs/generated-clients.md'), 'utf8');
    expected = fencedBlocks(markdown).find(({ language }) => language === 'text')?.text ?? '';
  });

  after(async () => {
    await service.stop();
    await Promise.all([dataFolder, ...folders].map(removeFolder));
  });

  const readerOf: Readonly<Record<Language, (folder: string, messages: string) => Promise<HasResponse>>> = {
    typescript: async (folder) => responsesInTypes(await readFile(join(folder, 'lendstream-api.ts'), 'utf8')),
    python: async (folder, messages) => {
      expect(messages).not.to.match(omissions);
      return responsesInModules(await textsBelow(join(folder, 'lendstream_api/api')));
    },
    // It has one method for all responses of an operation; an error has the text of its response.
    java: async (folder) => {
      const classes = await readdir(join(folder, 'target/classes/lendstream/api'));
      expect(classes).to.include('StreamsApi.class');
      const texts = await Promise.all(
        classes.map((name) => readFile(join(folder, 'target/classes/lendstream/api', name), 'latin1')),
      );
      const all = texts.join('\n');
      return (operationId) => all.includes(`${operationId}WithHttpInfo`);
    },
  };

  for (const language of ['typescript', 'python', 'java'] as const) {
    it(`of ${language} have every response, and publish, consume, commit and open a loan`, async function () {
      const folder = await temporaryFolder();
      folders.push(folder);
      const client = await generateClient(language, folder).catch((error: unknown) => {
        if (!(error instanceof GeneratorUnavailable)) throw error;
        process.stdout.write(`      skipped: ${error.message}\n`);
        return this.skip();
      });
      const hasResponse = await readerOf[language](folder, client.messages);
      const missing = operations.flatMap(({ operationId, responses }) =>
        Object.keys(responses)
          .filter((status) => !hasResponse(operationId, status))
          .map((status) => `${operationId} ${status}`),
      );
      expect(missing).to.deep.equal([]);
      const printed = await client.run(service.url);
      // Only exact decimals keep the zero.
      expect(printed.replace('1000.50', '1000.5')).to.equal(expected);
    });
  }

  it('are installed in the versions that the document names', async () => {
    const markdown = await readFile(join(packageRoot, 'docs/generated-clients.md'), 'utf8');
    const manifest = 'scripts/examples/generated-clients/typescript/package.json';
    const { dependencies } = JSON.parse(await readFile(join(packageRoot, manifest), 'utf8')) as {
      dependencies: Readonly<Record<string, string>>;
    };
    for (const [name, version] of Object.entries(dependencies)) expect(markdown).to.include(`${name}@${version}`);
    const pom = await readFile(join(packageRoot, 'scripts/examples/generated-clients/java/pom.xml'), 'utf8');
    const requirements = 'scripts/examples/generated-clients/python/requirements.txt';
    const python = (await readFile(join(packageRoot, requirements), 'utf8')).trim().replace('==', ' ');
    expect(pom).to.match(/openapi-generator-maven-plugin<\/artifactId>\s*<version>7\.25\.0</);
    for (const named of ['OpenAPI Generator 7.25.0', python]) expect(markdown).to.include(named);
  });

  it('would not be found complete without a response', () => {
    const inTypes = responsesInTypes(
      '    getLoan: {\n        responses: {\n            200: {\n            };\n        };\n    };\n',
    );
    expect([inTypes('getLoan', '200'), inTypes('getLoan', '404'), inTypes('other', '200')]).to.deep.equal([
      true,
      false,
      false,
    ]);
    const inModules = responsesInModules(new Map([['get_loan.py', 'if response.status_code == 200:']]));
    expect([inModules('getLoan', '200'), inModules('getLoan', '404'), inModules('other', '200')]).to.deep.equal([
      true,
      false,
      false,
    ]);
  });
});

/** In the interface `operations` of openapi-typescript. */
function responsesInTypes(text: string): HasResponse {
  const blocks = new Map(
    [...text.matchAll(/^ {4}(\w+): \{\n([\s\S]*?)^ {4}\};$/gm)].map(([, name = '', block = '']) => [name, block]),
  );
  return (operationId, status) => blocks.get(operationId)?.includes(`\n            ${status}: `) === true;
}

/** In the modules of openapi-python-client, one for each operation. */
function responsesInModules(modules: ReadonlyMap<string, string>): HasResponse {
  return (operationId, status) => {
    const name = `${operationId.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}.py`;
    return modules.get(name)?.includes(`response.status_code == ${status}:`) === true;
  };
}

/** By the name of the file. */
async function textsBelow(folder: string): Promise<Map<string, string>> {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((file) => file.isFile());
  return new Map(
    await Promise.all(
      files.map(async ({ parentPath, name }) => [name, await readFile(join(parentPath, name), 'utf8')] as const),
    ),
  );
}
