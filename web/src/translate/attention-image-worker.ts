// Writes a picture as PNG, which takes too long for the page itself.
addEventListener('message', async ({ data }: MessageEvent<ImageBitmap>) => {
  const canvas = new OffscreenCanvas(data.width, data.height);
  canvas.getContext('bitmaprenderer')!.transferFromImageBitmap(data);
  postMessage(await canvas.convertToBlob({ type: 'image/png' }));
});
