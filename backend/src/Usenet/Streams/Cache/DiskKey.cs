using System.Buffers.Binary;
using System.Diagnostics.CodeAnalysis;
using System.Security.Cryptography;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Streams.Cache;

/// <summary>The on-disk name of a segment: a hash of its ids and offset. Stable across restarts; equal for all files with the segment at that offset.</summary>
/// <remarks>Immutable value.</remarks>
internal readonly record struct DiskKey(UInt128 High, UInt128 Low)
{
    /// <summary>Hash size in bytes.</summary>
    public const int Size = SHA256.HashSizeInBytes;

    private const int NameLength = 2 * Size;

    public string FileName => $"{High:x32}{Low:x32}";

    /// <summary>One of 256 folders, named after the first byte.</summary>
    public string FolderName => $"{(byte)(High >> 120):x2}";

    public static DiskKey Of(SegmentKey key)
    {
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        Span<byte> place = stackalloc byte[16];
        BinaryPrimitives.WriteInt32LittleEndian(place, key.Segment.Index);
        BinaryPrimitives.WriteInt32LittleEndian(place[4..], key.Segment.Length);
        BinaryPrimitives.WriteInt64LittleEndian(place[8..], key.Segment.Begin);
        hash.AppendData(place);
        Append(hash, key.Ids.Primary.Bytes);
        foreach (var id in key.Ids.Fallbacks)
            Append(hash, id.Bytes);

        Span<byte> name = stackalloc byte[Size];
        hash.GetHashAndReset(name);
        return Read(name);
    }

    public static DiskKey Read(ReadOnlySpan<byte> bytes) =>
        new(BinaryPrimitives.ReadUInt128BigEndian(bytes), BinaryPrimitives.ReadUInt128BigEndian(bytes[16..]));

    public static bool TryParse([NotNullWhen(true)] string? name, out DiskKey key)
    {
        key = default;
        if (name is not { Length: NameLength } || !name.All(char.IsAsciiHexDigitLower))
            return false;
        key = Read(Convert.FromHexString(name));
        return true;
    }

    public void Write(Span<byte> bytes)
    {
        BinaryPrimitives.WriteUInt128BigEndian(bytes, High);
        BinaryPrimitives.WriteUInt128BigEndian(bytes[16..], Low);
    }

    // The length comes first, because two ids could otherwise run together.
    private static void Append(IncrementalHash hash, ReadOnlySpan<byte> id)
    {
        hash.AppendData([(byte)id.Length]);
        hash.AppendData(id);
    }
}
