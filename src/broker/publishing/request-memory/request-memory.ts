import { jsonByte } from '../../../json-bytes.ts';
import { compile } from '../../../machine-code/compile.ts';
import { shapeBytesMaximum } from '../known-shapes/event-shape.ts';
import { eventsPerRequestMaximum } from '../request-parsing.ts';
import { fieldBytes } from './event-fields.ts';
import { findRoutine, entryBytes } from './find-routine.ts';
import {
  gatherRoutine,
  listedBytes,
  listedField,
  partBytes,
  partField,
  recipeHeadBytes,
  stepBytes,
} from './gather-routine.ts';

interface Routines {
  find(
    table: number,
    at: number,
    end: number,
    eventBytesMaximum: number,
    fields: number,
    fieldsEnd: number,
    fieldsOfEach: number,
    unusual: number,
    unusualEnd: number,
  ): number;
  gather(list: number, listEnd: number, to: number, between: number): number;
}

const bytesPerMegabyte = 1024 * 1024;

/** A larger request is prepared in full. No request over HTTP is larger. */
export const requestBytesMaximum = 8 * bytesPerMegabyte;

/** Room for the fields of a hundred thousand events with six key fields. */
const fieldsBytesMaximum = 8 * bytesPerMegabyte;

/** Requests with more times in an unusual spelling have no known shape. */
export const unusualTimesMaximum = 64 * 1024;
const unusualTimeBytes = 8;

/** The most gaps of a shape. */
export const gapsMaximum = 100;

/** How many events are gathered at once. */
export const listedMaximum = 4 * 1024;

/** Room for texts and recipes, at once. Bytes. */
export const addedBytesMaximum = 512 * 1024;

/** Room for what is gathered at once: larger than any event. Bytes. */
export const gatheredBytesMaximum = 2 * bytesPerMegabyte;

/** Where everything is. The request is at 0, so that positions in it are addresses. Reads may pass an end by steps. */
const room = 4 * stepBytes;
const fieldsAt = requestBytesMaximum + room;
const unusualAt = fieldsAt + fieldsBytesMaximum;
const unusualEnd = unusualAt + unusualTimesMaximum * unusualTimeBytes;
const entriesAt = unusualEnd + unusualTimeBytes;
const piecesAt = entriesAt + (gapsMaximum + 1) * entryBytes;
const addedAt = piecesAt + shapeBytesMaximum + room;
const listAt = addedAt + addedBytesMaximum + room;
const gatheredAt = listAt + listedMaximum * listedBytes;
const memoryBytes = gatheredAt + gatheredBytesMaximum + room;

/** A shape as the routine `find` reads it. */
export interface ShapeTable {
  /**
   * Entries as `entryField` has them, with the positions of the pieces in `pieces`: one more than there are gaps, which
   * are at most {@link gapsMaximum}.
   */
  readonly entries: Int32Array;
  /** At most {@link shapeBytesMaximum}. */
  readonly pieces: Uint8Array;
  readonly fieldsOfEach: number;
}

/** Of what a gathered text consists: texts in Latin-1, and what is between two fields of an event. */
export type Part = string | { readonly from: number; readonly to: number };

/**
 * The memory into which a request is loaded, with compiled routines that work on it: they find its events and join
 * parts of it, 16 bytes at a time. There is one for each thread, because nothing waits while it is in use. The pages of
 * it that no request has needed take no memory of the machine.
 */
export class RequestMemory {
  /** The request is at the start of it. */
  readonly bytes: Buffer;
  /** The fields of its events. */
  readonly fields: Int32Array;
  readonly #words: Int32Array;
  readonly #routines: Routines | undefined;
  #length = 0;
  #table: ShapeTable | undefined;
  /** Where more texts and recipes can be added. */
  #addedEnd = addedAt;
  #listEnd = listAt;

  private constructor(routines: (Routines & { readonly memory: Uint8Array }) | undefined) {
    const { buffer } = routines?.memory ?? new Uint8Array(memoryBytes);
    this.bytes = Buffer.from(buffer);
    this.#words = new Int32Array(buffer);
    this.fields = this.#words.subarray(fieldsAt / fieldBytes, unusualAt / fieldBytes);
    this.#routines = routines;
  }

  /** The one of this thread. Made by the first call. */
  static ofThread(): RequestMemory {
    return (ofThread ??= RequestMemory.create());
  }

  /** Another one than that of the thread. */
  static create(): RequestMemory {
    return new RequestMemory(compile<Routines>([findRoutine, gatherRoutine], memoryBytes));
  }

  /** The loaded request. */
  get request(): Buffer {
    return this.bytes.subarray(0, this.#length);
  }

  /** Loads a request. Returns whether there is room for it. */
  load(body: Uint8Array): boolean {
    if (body.length > requestBytesMaximum) return false;
    this.bytes.set(body);
    this.bytes[body.length] = 0;
    this.#length = body.length;
    return true;
  }

  /** Whether it has routines. Otherwise no events are found, and gathering is slower. */
  get canFind(): boolean {
    return this.#routines !== undefined;
  }

  /**
   * Finds the events of the loaded request and writes their {@link fields}. Returns their count, 0 when not all of them
   * have the shape or when there is no routine to find them: see {@link findRoutine}.
   */
  find(table: ShapeTable, eventBytesMaximum: number): number {
    if (this.#routines === undefined) return 0;
    if (this.#table !== table) this.#loadTable(table);
    const { fieldsOfEach } = table;
    const eventsMaximum = Math.min(eventsPerRequestMaximum, Math.floor(this.fields.length / fieldsOfEach));
    return this.#routines.find(
      entriesAt,
      1,
      this.#length,
      eventBytesMaximum,
      fieldsAt,
      fieldsAt + eventsMaximum * fieldsOfEach * fieldBytes,
      fieldsOfEach,
      unusualAt,
      unusualEnd,
    );
  }

  /** The times in an unusual spelling that are among the found events, in Latin-1. */
  *unusualTimes(): Generator<string, void> {
    for (let at = unusualAt / fieldBytes; this.#words[at] !== 0; at += 2) {
      yield this.bytes.toString('latin1', this.#words[at], this.#words[at + 1]);
    }
  }

  #loadTable(table: ShapeTable): void {
    this.#table = table;
    this.#words.set(table.entries, entriesAt / fieldBytes);
    for (let entry = 0; entry < table.entries.length; entry += entryBytes / fieldBytes) {
      const place = entriesAt / fieldBytes + entry;
      this.#words[place] = piecesAt + (table.entries[entry] as number);
    }
    this.bytes.set(table.pieces, piecesAt);
  }

  /** Forgets the list and all recipes. */
  clearList(): void {
    this.#addedEnd = addedAt;
    this.#listEnd = listAt;
  }

  /**
   * Adds the recipe of what is gathered for an event. Its parts of events are in the loaded request.
   * @returns undefined when there is no room for it
   */
  addRecipe(parts: readonly Part[]): number | undefined {
    const recipe = this.#addedEnd;
    const partsEnd = recipe + recipeHeadBytes + parts.length * partBytes;
    let textAt = partsEnd;
    for (const part of parts) if (typeof part === 'string') textAt += part.length;
    // Numbers are aligned.
    const end = Math.ceil(textAt / fieldBytes) * fieldBytes;
    if (end > addedAt + addedBytesMaximum) return undefined;
    this.#addedEnd = end;
    const words = this.#words;
    words[recipe / fieldBytes] = partsEnd;
    textAt = partsEnd;
    let word = (recipe + recipeHeadBytes) / fieldBytes;
    for (const part of parts) {
      const isOfEvent = typeof part !== 'string';
      if (!isOfEvent) this.bytes.write(part, textAt, 'latin1');
      words[word + partField.isOfEvent / fieldBytes] = isOfEvent ? 1 : 0;
      words[word + partField.start / fieldBytes] = isOfEvent ? part.from * fieldBytes : textAt;
      if (!isOfEvent) textAt += part.length;
      words[word + partField.end / fieldBytes] = isOfEvent ? part.to * fieldBytes : textAt;
      word += partBytes / fieldBytes;
    }
    return recipe;
  }

  /** Adds to the list what a recipe says. @param field Where the fields of the event begin among {@link fields}. */
  list(field: number, recipe: number): void {
    const word = this.#listEnd / fieldBytes;
    this.#words[word + listedField.event / fieldBytes] = fieldsAt + field * fieldBytes;
    this.#words[word + listedField.recipe / fieldBytes] = recipe;
    this.#listEnd += listedBytes;
  }

  /**
   * The same for several events, of which each has as many fields, in the order in which they are named.
   * @param events Their numbers, from one index to another one (exclusive).
   */
  listAll(events: Int32Array, from: number, to: number, fieldsOfEach: number, recipe: number): void {
    const words = this.#words;
    const bytesOfEach = fieldsOfEach * fieldBytes;
    let word = this.#listEnd / fieldBytes;
    for (let index = from; index < to; index += 1) {
      words[word + listedField.event / fieldBytes] = fieldsAt + (events[index] as number) * bytesOfEach;
      words[word + listedField.recipe / fieldBytes] = recipe;
      word += listedBytes / fieldBytes;
    }
    this.#listEnd = word * fieldBytes;
  }

  /** How many events are on the list. */
  get listed(): number {
    return (this.#listEnd - listAt) / listedBytes;
  }

  /**
   * Gathers what is on the list, which has at least one entry and at most {@link listedMaximum}: at most
   * {@link gatheredBytesMaximum} with a comma after each.
   * @param between How many commas are after each: 1 or 0.
   * @returns The gathered bytes with that comma, valid until the next call
   */
  gather(between: number): Buffer {
    const end = this.#routines?.gather(listAt, this.#listEnd, gatheredAt, between) ?? this.#gatherStepByStep(between);
    return this.bytes.subarray(gatheredAt, end);
  }

  /**
   * Writes where what was gathered for each entry of the list ends.
   * @param ends Receives the ends from an index on.
   * @param before What is added to each.
   */
  writeEnds(ends: Uint32Array, from: number, before: number): void {
    const words = this.#words;
    let word = listAt / fieldBytes;
    for (let index = from; word < this.#listEnd / fieldBytes; index += 1) {
      ends[index] = (words[word] as number) - gatheredAt + before;
      word += listedBytes / fieldBytes;
    }
  }

  /** The same as the routine `gather`, where the engine has no routines. */
  #gatherStepByStep(between: number): number {
    const { bytes } = this;
    const words = this.#words;
    let to = gatheredAt;
    for (let entry = listAt / fieldBytes; entry < this.#listEnd / fieldBytes; entry += listedBytes / fieldBytes) {
      const event = words[entry + listedField.event / fieldBytes] as number;
      const recipe = (words[entry + listedField.recipe / fieldBytes] as number) / fieldBytes;
      const partsEnd = (words[recipe] as number) / fieldBytes;
      for (let part = recipe + recipeHeadBytes / fieldBytes; part < partsEnd; part += partBytes / fieldBytes) {
        const isOfEvent = words[part + partField.isOfEvent / fieldBytes] === 1;
        const [start, end] = [partField.start, partField.end].map((field) => {
          const place = words[part + field / fieldBytes] as number;
          return isOfEvent ? (words[(event + place) / fieldBytes] as number) : place;
        }) as [number, number];
        bytes.copyWithin(to, start, end);
        to += end - start;
      }
      words[entry + listedField.event / fieldBytes] = to;
      bytes[to] = jsonByte.comma;
      to += between;
    }
    return to;
  }
}

let ofThread: RequestMemory | undefined;
