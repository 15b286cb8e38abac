namespace Sluice.Usenet.Streams.Maps;

/// <summary>A range of a file; length 0 if the range is unknown.</summary>
internal readonly record struct Stretch(long Begin, int Length);
