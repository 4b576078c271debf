import 'reflect-metadata';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { RequestMethod } from '@nestjs/common';

/** Every path that a controller answers GET on. */
export function routesOf(controller: { readonly prototype: object; readonly name: string }): string[] {
  const base = String(Reflect.getMetadata(PATH_METADATA, controller));
  return Object.values(Object.getOwnPropertyDescriptors(controller.prototype))
    .map(({ value }) => value as object)
    .filter((handler) => Reflect.getMetadata(METHOD_METADATA, handler) === RequestMethod.GET)
    .map((handler) => `/${base}/${String(Reflect.getMetadata(PATH_METADATA, handler))}`.replace(/\/+$/, ''));
}
