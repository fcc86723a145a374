deltaline.v
