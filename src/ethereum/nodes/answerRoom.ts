import { NodeError } from './nodeError.ts';

/** Memory for the answer to a client's request. */
export interface AnswerRoom {
  /** Takes room for so many bytes; returns false where there is none. */
  charge(bytes: number): boolean;
  /** Gives it back. */
  credit(bytes: number): void;
  /** All connections to a node are in use: of the clients that hold one and do not read, one is to go. */
  givePlace(): void;
}

/** There is no room for what a node answers: the fault of no node, and none but the client can do better, later. */
export class NoRoomError extends NodeError {
  constructor(host: string) {
    super('refused', `there is no room for what ${host} answers`);
  }
}

/** What a question holds of an answer's room, whichever node's answers arrive. */
export class ArrivalRoom {
  readonly #room: AnswerRoom;
  #bytes = 0;

  constructor(room: AnswerRoom) {
    this.#room = room;
  }

  charge(bytes: number): boolean {
    if (!this.#room.charge(bytes)) return false;
    this.#bytes += bytes;
    return true;
  }

  givePlace(): void {
    this.#room.givePlace();
  }

  /** The answer has been handed on, which takes room for it again. */
  close(): void {
    this.#room.credit(this.#bytes);
    this.#bytes = 0;
  }
}
