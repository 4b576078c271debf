import { EventEmitter } from 'node:events';
import { AnswerBuffers } from './answer-buffers.js';

describe('AnswerBuffers', () => {
  it('lends a buffer again when its response was sent, not before', () => {
    const buffers = new AnswerBuffers(8, 2);
    const response = new EventEmitter();
    const first = buffers.for(response);
    expect(first).toHaveLength(8);
    expect(buffers.for(new EventEmitter())).not.toBe(first);
    response.emit('close');
    expect(buffers.for(new EventEmitter())).not.toBe(first);
    response.emit('finish');
    response.emit('finish');
    expect(buffers.for(new EventEmitter())).toBe(first);
    expect(buffers.for(new EventEmitter())).not.toBe(first);
  });

  it('keeps no more than it may', () => {
    const buffers = new AnswerBuffers(8, 2);
    const responses = Array.from({ length: 5 }, () => new EventEmitter());
    const lent = new Set(responses.map((response) => buffers.for(response)));
    for (const response of responses) response.emit('finish');
    const again = responses.map(() => buffers.for(new EventEmitter()));
    expect(again.filter((buffer) => lent.has(buffer))).toHaveLength(2);
  });
});
