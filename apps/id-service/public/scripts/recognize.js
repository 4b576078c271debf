// The library's own, so that the page and `raindrop decode` never differ; the built files, which have no dependency.
export { recognizeId } from '../../../../libs/core/dist/recognition/recognize-id.js';
export { codecs } from '../../../../libs/core/dist/codec/codecs.js';
export { Layout, shapeOfFingerprint } from '../../../../libs/core/dist/layout/layout.js';
