namespace Sluice.Usenet.Streams;

/// <summary>Where the bytes of a file are at one moment.</summary>
/// <remarks>Immutable.</remarks>
/// <param name="Cells">
/// A letter for each equal part of the file, for the first of these that holds for any of its bytes: <c>x</c> known to be gone, <c>f</c> on
/// the way, <c>m</c> in memory, <c>d</c> on disk, <c>-</c> nowhere.
/// </param>
/// <param name="MemoryBytes">Bytes in memory.</param>
/// <param name="DiskBytes">Bytes on disk; an estimate where all of a file is kept there and it has many segments.</param>
/// <param name="UnderWay">Articles on the way.</param>
/// <param name="Gone">Articles that are known to be gone.</param>
public sealed record FileCells(string Cells, long MemoryBytes, long DiskBytes, int UnderWay, int Gone);
