namespace Sluice.Usenet.Streams;

/// <summary>A slice does not lie at its predicted offset; none of its bytes were served. The file can be read once its map is corrected.</summary>
public sealed class RefutedExtentException() : IOException("A volume is not laid out as expected; its release is mapped again.");
