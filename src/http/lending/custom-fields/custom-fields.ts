import { Router, type Request, type Response } from 'express';
import { hash } from 'node:crypto';
import type { Responses, Schemas } from '../../../contract.ts';
import {
  type CustomFieldFields,
  type FieldReferences,
  type FieldSetFields,
  isFieldId,
  isFieldSetId,
  readCustomFieldFields,
  readFieldSetFields,
} from '../../../lending-format/custom-fields/custom-field-payload.ts';
import {
  type CustomFieldRecord,
  type FieldSetRecord,
  fieldsOfSet,
  selectionOf,
} from '../../../lending-format/custom-fields/stored-custom-fields.ts';
import { type ExactJson, readExactObject, writeExact } from '../../../lending-format/exact-json.ts';
import { readDefinition } from '../../../lending-format/payloads/definition-payload.ts';
import {
  createDefinition,
  findDefinition,
  knownDefinition,
  listDefinitions,
  removeDefinition,
  reviseDefinition,
} from '../../../lending-format/stored-definitions.ts';
import { knownProduct } from '../../../lending-format/stored-products.ts';
import { LendingErrors, lendingMethodNotAllowed, requestError, resourceNotFound } from '../../edge/lending-errors.ts';
import { commandIdOf, keyAlreadyUsed } from '../idempotency-key.ts';
import { documentAfterPatch, payloadOfPatch } from '../json-patch-body.ts';
import {
  choiceParameter,
  lendingPage,
  pageParameters,
  refuseUnknownParameters,
  setPageHeaders,
} from '../lending-parameters.ts';
import { accepted, readDefinitionBody, readDefinitionText } from '../organization/organization.ts';
import type { LendingServices } from '../services.ts';

/** The definitions of custom fields: sets, and the fields in each. */
export function createCustomFieldsRouter(services: LendingServices): Router {
  const router = Router({ caseSensitive: true });
  const definitions = new CustomFieldDefinitions(services);
  router
    .route('/customfieldsets')
    .get((request, response) => definitions.listSets(request, response))
    .post((request, response) => definitions.createSet(request, response))
    .all(lendingMethodNotAllowed('GET', 'POST'));
  router
    .route('/customfieldsets/:customFieldSetId')
    .get((request, response) => definitions.showSet(request, response))
    .put((request, response) => definitions.changeSet(request, response))
    .patch((request, response) => definitions.patchSet(request, response))
    .delete((request, response) => definitions.removeSet(request, response))
    .all(lendingMethodNotAllowed('GET', 'PUT', 'PATCH', 'DELETE'));
  router
    .route('/customfieldsets/:customFieldSetId/customfields')
    .get((request, response) => definitions.listFields(request, response))
    .post((request, response) => definitions.createField(request, response))
    .all(lendingMethodNotAllowed('GET', 'POST'));
  router
    .route('/customfields/:customfieldId')
    .get((request, response) => definitions.showField(request, response))
    .put((request, response) => definitions.changeField(request, response))
    .patch((request, response) => definitions.patchField(request, response))
    .delete((request, response) => definitions.removeField(request, response))
    .all(lendingMethodNotAllowed('GET', 'PUT', 'PATCH', 'DELETE'));
  return router;
}

/** What sets of the original can be for; here, some of them have none. */
const filteredRecordTypes = [
  'CLIENT',
  'GROUP',
  'CREDIT_ARRANGEMENT',
  'LOAN_ACCOUNT',
  'GUARANTOR',
  'ASSET',
  'DEPOSIT_ACCOUNT',
  'DEPOSIT_PRODUCT',
  'TRANSACTION_CHANNEL',
  'TRANSACTION_TYPE',
  'BRANCH',
  'CENTRE',
  'USER',
] as const;

type SetView = Schemas['CustomFieldSet'];
type FieldView = Schemas['CustomField'];

/** The handlers of sets and fields. */
class CustomFieldDefinitions {
  readonly #services: LendingServices;

  constructor(services: LendingServices) {
    this.#services = services;
  }

  async listSets(request: Request, response: Response): Promise<void> {
    refuseUnknownParameters(request, ...pageParameters, 'detailsLevel', 'availableFor', 'builtIn');
    choiceParameter(request, 'detailsLevel', ['BASIC', 'FULL']);
    const availableFor = choiceParameter(request, 'availableFor', filteredRecordTypes);
    // An admin has defined each of them.
    const isBuiltIn = choiceParameter(request, 'builtIn', ['true', 'false']) === 'true';
    const found = listDefinitions<FieldSetFields>(this.#services.registry, 'custom-field-set').filter(
      ({ fields }) => !isBuiltIn && (availableFor === undefined || fields.availableFor === availableFor),
    );
    const page = lendingPage(request);
    await setPageHeaders(response, page, () => found.length);
    const shown = found.slice(page.offset, page.offset + page.limit).map((record) => this.#viewSet(record));
    response.json(shown satisfies Responses['listCustomFieldSets']);
  }

  async showSet(request: Request, response: Response): Promise<void> {
    refuseDetails(request);
    response.json(this.#viewSet(await this.#existingSet(request)) satisfies Responses['getCustomFieldSet']);
  }

  async createSet(request: Request, response: Response): Promise<void> {
    const body = await readDefinitionBody(request);
    const payload = accepted(
      readDefinition(body, undefined, (reader) => readFieldSetFields(reader), noBranch, isFieldSetId),
    );
    await this.#create(request, response, 'custom-field-set', body, payload);
    response.status(201).json(this.#viewSet(this.#set(payload.id)));
  }

  async changeSet(request: Request, response: Response): Promise<void> {
    const body = await readDefinitionBody(request);
    const { id } = await this.#existingSet(request);
    await this.#reviseSet(id, () => body);
    response.json(this.#viewSet(this.#set(id)) satisfies Responses['setCustomFieldSet']);
  }

  async patchSet(request: Request, response: Response): Promise<void> {
    const patch = await readPatch(request);
    const { id } = await this.#existingSet(request);
    await this.#reviseSet(id, (record) => documentAfterPatch(documentOf(this.#viewSet(record)), patch));
    response.status(204).end();
  }

  /** A set goes once it has no fields. What accounts have in it stays, and can be removed. */
  async removeSet(request: Request, response: Response): Promise<void> {
    const { registry } = this.#services;
    const { id } = await this.#existingSet(request);
    await removeDefinition(registry, 'custom-field-set', id, () => {
      if (fieldsOfSet(registry, id).length > 0) throw stillUsed('customFieldSetId', 'The set has fields');
    });
    response.status(204).end();
  }

  async listFields(request: Request, response: Response): Promise<void> {
    refuseUnknownParameters(request, ...pageParameters, 'detailsLevel');
    choiceParameter(request, 'detailsLevel', ['BASIC', 'FULL']);
    const { id } = await this.#existingSet(request);
    const found = fieldsOfSet(this.#services.registry, id);
    const page = lendingPage(request);
    await setPageHeaders(response, page, () => found.length);
    response.json(
      found.slice(page.offset, page.offset + page.limit).map(viewField) satisfies Responses['listCustomFields'],
    );
  }

  async showField(request: Request, response: Response): Promise<void> {
    refuseDetails(request);
    response.json(viewField(await this.#existingField(request)) satisfies Responses['getCustomField']);
  }

  async createField(request: Request, response: Response): Promise<void> {
    const body = await readDefinitionBody(request);
    const set = await this.#existingSet(request);
    const references = this.#references(set.id, set.fields);
    const payload = accepted(
      readDefinition(body, undefined, (reader) => readCustomFieldFields(reader, references), noBranch, isFieldId),
    );
    await this.#create(request, response, 'custom-field', body, payload);
    response.status(201).json(viewField(this.#field(payload.id)));
  }

  async changeField(request: Request, response: Response): Promise<void> {
    const body = await readDefinitionBody(request);
    const { id } = await this.#existingField(request);
    await this.#reviseField(id, () => body);
    response.json(viewField(this.#field(id)) satisfies Responses['setCustomField']);
  }

  async patchField(request: Request, response: Response): Promise<void> {
    const patch = await readPatch(request);
    const { id } = await this.#existingField(request);
    await this.#reviseField(id, (record) => documentAfterPatch(documentOf(viewField(record)), patch));
    response.status(204).end();
  }

  /** A field goes once no selection depends on it. What accounts have in it stays, and can be removed. */
  async removeField(request: Request, response: Response): Promise<void> {
    const { registry } = this.#services;
    const { id } = await this.#existingField(request);
    await removeDefinition(registry, 'custom-field', id, () => {
      const { setId } = this.#field(id).fields;
      const isUsed = fieldsOfSet(registry, setId).some((other) => selectionOf(registry, other)?.id === id);
      if (isUsed) throw stillUsed('customfieldId', 'Another selection depends on the field');
    });
    response.status(204).end();
  }

  /** A repetition under the same Idempotency-Key shows what the first request made. */
  async #create(
    request: Request,
    response: Response,
    kind: 'custom-field-set' | 'custom-field',
    body: ExactJson,
    { id, fields }: { readonly id: string; readonly fields: FieldSetFields | CustomFieldFields },
  ): Promise<void> {
    const { registry, clock } = this.#services;
    const encodedKey = commandIdOf(request.get('Idempotency-Key'), request.path).replaceAll('-', '');
    const requestDigest = hash('sha256', writeExact(body));
    const definition = { id, encodedKey, requestDigest, fields };
    const known = await createDefinition<unknown>(registry, kind, definition, clock.now());
    if (known === undefined) return;
    if (known.encodedKey !== encodedKey) throw stillUsed('id', 'It is in use');
    if (known.requestDigest !== requestDigest) throw keyAlreadyUsed();
    response.set('Idempotent-Replayed', 'true');
  }

  async #reviseSet(id: string, bodyOf: (record: FieldSetRecord) => ExactJson): Promise<void> {
    const { registry, clock } = this.#services;
    const fieldsOf = (record: FieldSetRecord): FieldSetFields => {
      const hasFields = fieldsOfSet(registry, id).length > 0;
      const before = hasFields ? record.fields : undefined;
      return accepted(readDefinition(bodyOf(record), id, (reader) => readFieldSetFields(reader, before), noBranch))
        .fields;
    };
    await reviseDefinition<FieldSetFields>(registry, 'custom-field-set', id, fieldsOf, clock.now());
  }

  async #reviseField(id: string, bodyOf: (record: CustomFieldRecord) => ExactJson): Promise<void> {
    const { registry, clock } = this.#services;
    const fieldsOf = (record: CustomFieldRecord): CustomFieldFields => {
      const references = { ...this.#references(record.fields.setId, record.fields, id), before: record.fields };
      return accepted(
        readDefinition(bodyOf(record), id, (reader) => readCustomFieldFields(reader, references), noBranch),
      ).fields;
    };
    await reviseDefinition<CustomFieldFields>(registry, 'custom-field', id, fieldsOf, clock.now());
  }

  /** @param id The field that is read; undefined for a new one. */
  #references(setId: string, { availableFor }: Pick<FieldSetFields, 'availableFor'>, id?: string): FieldReferences {
    const { registry } = this.#services;
    const selection = (idOrKey: string): CustomFieldRecord | undefined => {
      const found = knownDefinition<CustomFieldFields>(registry, 'custom-field', idOrKey);
      return found?.fields.setId === setId ? found : undefined;
    };
    return {
      set: { id: setId, availableFor },
      namesOfProduct: (idOrKey) => namesOf(knownProduct(registry, idOrKey)),
      namesOfChannel: (idOrKey) => namesOf(knownDefinition(registry, 'transaction-channel', idOrKey)),
      selection: (idOrKey) => selection(idOrKey)?.fields,
      dependsOnThis: (idOrKey) => {
        const seen = new Set<string>();
        let field = selection(idOrKey);
        // Two requests at the same time may have made a circle of others.
        for (; field !== undefined && field.id !== id && !seen.has(field.id); field = selectionOf(registry, field)) {
          seen.add(field.id);
        }
        return field !== undefined;
      },
    };
  }

  #viewSet({ id, encodedKey, creationDate, fields }: FieldSetRecord): SetView {
    const { displaySettings, ...others } = fields;
    const customFields = fieldsOfSet(this.#services.registry, id);
    return {
      id,
      encodedKey,
      ...others,
      displaySettings: { ...displaySettings, builtIn: false },
      customFields: customFields.map((field) => ({ id: field.id, encodedKey: field.encodedKey })),
      creationDate,
    };
  }

  /** @throws LendingErrors 404 */
  async #existingSet(request: Request): Promise<FieldSetRecord> {
    const id = String(request.params['customFieldSetId']);
    const found = await findDefinition<FieldSetFields>(this.#services.registry, 'custom-field-set', id);
    if (found === undefined) throw resourceNotFound('customFieldSetId');
    return found;
  }

  /** @throws LendingErrors 404 */
  async #existingField(request: Request): Promise<CustomFieldRecord> {
    const id = String(request.params['customfieldId']);
    const found = await findDefinition<CustomFieldFields>(this.#services.registry, 'custom-field', id);
    if (found === undefined) throw resourceNotFound('customfieldId');
    return found;
  }

  /** One that was there a moment ago. @throws LendingErrors 404 */
  #set(id: string): FieldSetRecord {
    const found = knownDefinition<FieldSetFields>(this.#services.registry, 'custom-field-set', id);
    if (found === undefined) throw resourceNotFound('customFieldSetId');
    return found;
  }

  #field(id: string): CustomFieldRecord {
    const found = knownDefinition<CustomFieldFields>(this.#services.registry, 'custom-field', id);
    if (found === undefined) throw resourceNotFound('customfieldId');
    return found;
  }
}

const noBranch = (): boolean => false;

const everyone = { allUsers: true, roles: [] } as const;

function viewField({ id, encodedKey, creationDate, lastModifiedDate, fields }: CustomFieldRecord): FieldView {
  const { setId: _setId, usage, valueValidationSettings, ...others } = fields;
  return {
    id,
    encodedKey,
    ...others,
    usage: usage.map(({ objectNames: _names, ...shown }) => shown),
    valueValidationSettings: { unique: false, ...valueValidationSettings },
    viewRights: everyone,
    editRights: everyone,
    creationDate,
    lastModifiedDate,
  };
}

function namesOf(
  found: { readonly id: string; readonly encodedKey: string } | undefined,
): readonly string[] | undefined {
  return found === undefined ? undefined : [found.id, found.encodedKey];
}

/** The text of a patch. @throws LendingErrors 400 when it is none */
async function readPatch(request: Request): Promise<string> {
  const text = await readDefinitionText(request);
  payloadOfPatch(text);
  return text;
}

function documentOf(view: SetView | FieldView): ExactJson {
  return readExactObject(JSON.stringify(view));
}

function stillUsed(source: string, message: string): LendingErrors {
  const error = { ...requestError('INVALID_PARAMETERS', source), errorMessage: `${message}.` };
  return new LendingErrors('MALFORMED_REQUEST', [error]);
}

function refuseDetails(request: Request): void {
  refuseUnknownParameters(request, 'detailsLevel');
  choiceParameter(request, 'detailsLevel', ['BASIC', 'FULL']);
}
