import type { KafkaRequest } from './request.ts';
import { WireReader, WireWriter } from './wire.ts';

/** The outcome for one topic or resource of an administrative request. */
export interface NamedResult {
  readonly name: string;
  readonly errorCode: number;
  readonly message: string | null;
}

/** By name; a null value resets to the default. */
export type TopicSettings = ReadonlyMap<string, string | null>;

/** How long the brokers may take to agree on a change before they respond with a timeout. Milliseconds. */
const agreementMilliseconds = 10_000;

const topicResource = 2;

/** A topic to be created. */
export interface RequestedTopic {
  readonly name: string;
  readonly partitionCount: number;
  readonly settings: TopicSettings;
}

/**
 * CreateTopics, version 4. The brokers choose where the partitions go. Each topic has an outcome of its own.
 * @param topics With different names.
 * @param replicationFactor -1 for the brokers' configured default.
 */
export function createTopicsRequest(
  topics: readonly RequestedTopic[],
  replicationFactor: number,
): KafkaRequest<NamedResult[]> {
  return {
    name: 'CreateTopics',
    apiKey: 19,
    apiVersion: 4,
    brokerMilliseconds: agreementMilliseconds,
    encode: () => {
      const writer = new WireWriter();
      return writer
        .array(topics, ({ name, partitionCount, settings }) =>
          writer
            .string(name)
            .int32(partitionCount)
            .int16(replicationFactor)
            .array([], () => {})
            .array([...settings], ([setting, value]) => writer.string(setting).string(value)),
        )
        .int32(agreementMilliseconds)
        .boolean(false)
        .toBuffer();
    },
    decode: (response) => readResults(response, true),
  };
}

/** DeleteTopics, version 1. */
export function deleteTopicRequest(name: string): KafkaRequest<NamedResult[]> {
  return {
    name: 'DeleteTopics',
    apiKey: 20,
    apiVersion: 1,
    brokerMilliseconds: agreementMilliseconds,
    encode: () => new WireWriter().int32(1).string(name).int32(agreementMilliseconds).toBuffer(),
    decode: (response) => readResults(response, false),
  };
}

/** CreatePartitions, version 1. */
export function createPartitionsRequest(name: string, partitionCount: number): KafkaRequest<NamedResult[]> {
  return {
    name: 'CreatePartitions',
    apiKey: 37,
    apiVersion: 1,
    brokerMilliseconds: agreementMilliseconds,
    encode: () =>
      new WireWriter()
        .int32(1)
        .string(name)
        .int32(partitionCount)
        .array(null, () => {})
        .int32(agreementMilliseconds)
        .boolean(false)
        .toBuffer(),
    decode: (response) => readResults(response, true),
  };
}

/** DescribeConfigs, version 1: the named settings of topics. */
export function describeTopicsRequest(
  topics: readonly string[],
  settings: readonly string[],
): KafkaRequest<(NamedResult & { readonly settings: TopicSettings })[]> {
  return {
    name: 'DescribeConfigs',
    apiKey: 32,
    apiVersion: 1,
    encode: () => {
      const writer = new WireWriter();
      return writer
        .array(topics, (topic) =>
          writer
            .int8(topicResource)
            .string(topic)
            .array(settings, (setting) => writer.string(setting)),
        )
        .boolean(false)
        .toBuffer();
    },
    decode: (response) => {
      const reader = new WireReader(response);
      reader.int32(); // throttle time
      return reader.array(() => ({
        ...readResource(reader),
        settings: new Map(reader.array(() => readSetting(reader))),
      }));
    },
  };
}

/**
 * IncrementalAlterConfigs, version 0: changes the given settings and leaves the rest, where AlterConfigs would replace
 * all.
 */
export function alterTopicRequest(name: string, settings: TopicSettings): KafkaRequest<NamedResult[]> {
  return {
    name: 'IncrementalAlterConfigs',
    apiKey: 44,
    apiVersion: 0,
    brokerMilliseconds: agreementMilliseconds,
    encode: () => {
      const writer = new WireWriter();
      return writer
        .int32(1)
        .int8(topicResource)
        .string(name)
        .array([...settings], ([setting, value]) =>
          writer
            .string(setting)
            .int8(value === null ? operationDelete : operationSet)
            .string(value),
        )
        .boolean(false)
        .toBuffer();
    },
    decode: (response) => {
      const reader = new WireReader(response);
      reader.int32(); // throttle time
      return reader.array(() => readResource(reader));
    },
  };
}

const operationSet = 0;
const operationDelete = 1;

function readResults(response: Buffer, hasMessages: boolean): NamedResult[] {
  const reader = new WireReader(response);
  reader.int32(); // throttle time
  return reader.array(() => {
    const name = reader.string();
    const errorCode = reader.int16();
    return { name, errorCode, message: hasMessages ? reader.nullableString() : null };
  });
}

/** Reads the outcome for a topic whose settings were requested or changed. */
function readResource(reader: WireReader): NamedResult {
  const errorCode = reader.int16();
  const message = reader.nullableString();
  reader.int8(); // resource type
  return { errorCode, message, name: reader.string() };
}

function readSetting(reader: WireReader): [string, string | null] {
  const name = reader.string();
  const value = reader.nullableString();
  reader.boolean(); // read-only
  reader.int8(); // source
  reader.boolean(); // sensitive
  reader.array(() => {
    reader.string();
    reader.nullableString();
    reader.int8();
  }); // synonyms
  return [name, value];
}
