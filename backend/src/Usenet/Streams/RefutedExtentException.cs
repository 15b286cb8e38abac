namespace Sluice.Usenet.Streams;

/// <summary>
/// The bytes of a slice do not lie where they were predicted to lie. None of them have left; the map of the file is being corrected, and
/// the file can be read once it is.
/// </summary>
public sealed class RefutedExtentException() : IOException("A volume is not laid out as the others of its set.");
