namespace Sluice.Usenet.Streams;

/// <summary>Where the bytes of a file are at one moment: in memory, on disk, in transit or gone. Immutable.</summary>
/// <param name="Cells">
/// One letter for each equal part of the file. The first letter in this list that applies to any byte of the part wins: <c>x</c> known to be gone, <c>f</c> in
/// transit, <c>m</c> in memory, <c>d</c> on disk, <c>-</c> not held.
/// </param>
/// <param name="DiskBytes">Bytes on disk; an estimate if the whole file is kept on disk and has many segments.</param>
/// <param name="Gone">Articles known to be gone.</param>
public sealed record FileCells(string Cells, long MemoryBytes, long DiskBytes, int UnderWay, int Gone);
