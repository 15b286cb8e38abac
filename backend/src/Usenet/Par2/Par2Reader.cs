using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;

namespace Sluice.Usenet.Par2;

/// <summary>One step through a PAR2 file.</summary>
/// <param name="Advance">Bytes to advance, at least one; 0 if the window must first hold <paramref name="Needed"/> bytes.</param>
/// <param name="Needed">Bytes the window must hold to take this step.</param>
internal readonly record struct Par2Step(long Advance, int Needed, Par2Packet? Packet, bool IsDamaged)
{
    public static Par2Step Skip(long count) => new(count, 0, null, IsDamaged: false);

    public static Par2Step Damaged(long count) => new(count, 0, null, IsDamaged: true);

    public static Par2Step Wait(int needed) => new(0, needed, null, IsDamaged: false);
}

/// <summary>Verifies and parses the PAR2 packets that describe files, and skips all others by length (Parity Volume Set Specification 2.0). Pure.</summary>
internal static class Par2Reader
{
    /// <summary>Length of a packet header: magic 8, length 8, MD5 16, set 16, type 16.</summary>
    public const int HeaderLength = 64;

    /// <summary>Maximum number of files in one set, because each needs at least one slice and the Reed-Solomon code allows no more slices.</summary>
    public const int MaxFiles = 32_768;

    /// <summary>Maximum length of a file name in bytes, the longest path on Linux.</summary>
    public const int MaxName = 4096;

    // Fits the main packet of the largest set plus as many files outside the recovery set.
    private const int MaxMain = HeaderLength + 12 + 2 * MaxFiles * 16;
    private const int MaxDescription = HeaderLength + 56 + MaxName;
    private const int MaxUnicodeName = HeaderLength + 16 + 2 * MaxName;

    private static readonly UTF8Encoding StrictUtf8 = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    private static ReadOnlySpan<byte> Magic => "PAR2\0PKT"u8;

    /// <summary>Returns the set of a file from its first packet without verifying it; null if too short or not PAR2.</summary>
    public static UInt128? SetIdOf(ReadOnlySpan<byte> start) =>
        start.Length >= 48 && start.StartsWith(Magic) ? BinaryPrimitives.ReadUInt128BigEndian(start[32..]) : null;

    /// <summary>Returns the MD5 as a big-endian number.</summary>
    public static UInt128 Md5Of(ReadOnlySpan<byte> bytes)
    {
        // MD5, because the format has no other checksum. It protects against damage, not against forgery.
#pragma warning disable CA5351
        Span<byte> md5 = stackalloc byte[MD5.HashSizeInBytes];
        MD5.HashData(bytes, md5);
#pragma warning restore CA5351
        return BinaryPrimitives.ReadUInt128BigEndian(md5);
    }

    /// <summary>Takes the next step.</summary>
    /// <param name="window">The available bytes at the current position.</param>
    /// <param name="remaining">Bytes from this position to the end of the file, at least one and never fewer than in the window.</param>
    public static Par2Step Next(ReadOnlySpan<byte> window, long remaining)
    {
        if (remaining < HeaderLength)
            return Par2Step.Skip(remaining);
        if (window.Length < HeaderLength)
            return Par2Step.Wait(HeaderLength);
        if (!window.StartsWith(Magic))
            return Par2Step.Skip(window.IndexOf(Magic) is > 0 and var next ? next : window.Length - Magic.Length + 1);

        // If the length is wrong, the next packet may begin anywhere.
        var length = BinaryPrimitives.ReadUInt64LittleEndian(window[8..]);
        if (length < HeaderLength || length % 4 != 0 || length > (ulong)remaining)
            return Par2Step.Damaged(Magic.Length);

        var setId = BinaryPrimitives.ReadUInt128BigEndian(window[32..]);
        var type = window[48..64];
        if (type.SequenceEqual("PAR 2.0\0RecvSlic"u8))
            return new Par2Step((long)length, 0, new Par2Recovery(setId), IsDamaged: false);
        var limit = LimitOf(type);
        if (limit == 0)
            return Par2Step.Skip((long)length);
        if (length > (ulong)limit)
            return Par2Step.Damaged(Magic.Length);
        if ((ulong)window.Length < length)
            return Par2Step.Wait((int)length);

        var packet = window[..(int)length];
        if (Md5Of(packet[32..]) != BinaryPrimitives.ReadUInt128BigEndian(packet[16..]))
            return Par2Step.Damaged(Magic.Length);
        var parsed = Parse(setId, type, packet[HeaderLength..]);
        return new Par2Step((long)length, 0, parsed, IsDamaged: parsed is null);
    }

    /// <summary>Returns the longest valid packet of a type; 0 for skipped types: slice checksums, creator and unknown types.</summary>
    private static int LimitOf(ReadOnlySpan<byte> type)
    {
        if (type.SequenceEqual("PAR 2.0\0Main\0\0\0\0"u8))
            return MaxMain;
        if (type.SequenceEqual("PAR 2.0\0FileDesc"u8))
            return MaxDescription;
        return type.SequenceEqual("PAR 2.0\0UniFileN"u8) ? MaxUnicodeName : 0;
    }

    private static Par2Packet? Parse(UInt128 setId, ReadOnlySpan<byte> type, ReadOnlySpan<byte> body) => type[8] switch
    {
        (byte)'M' => ParseMain(setId, body),
        (byte)'F' => ParseDescription(setId, body),
        _ => ParseUnicodeName(setId, body),
    };

    // Slice size 8, number of repairable files 4, their ids, then the ids of other files.
    private static Par2Main? ParseMain(UInt128 setId, ReadOnlySpan<byte> body)
    {
        if (body.Length < 12 || (body.Length - 12) % 16 != 0)
            return null;
        var sliceSize = BinaryPrimitives.ReadUInt64LittleEndian(body);
        var count = BinaryPrimitives.ReadUInt32LittleEndian(body[8..]);
        if (sliceSize is 0 or > long.MaxValue || sliceSize % 4 != 0 || count > MaxFiles || count > (body.Length - 12) / 16)
            return null;

        var ids = new UInt128[count];
        for (var i = 0; i < ids.Length; i++)
            ids[i] = BinaryPrimitives.ReadUInt128BigEndian(body[(12 + i * 16)..]);
        return new Par2Main(setId, (long)sliceSize, ids);
    }

    // File id 16, MD5 16, MD5 of the first 16 KiB 16, length 8, name padded with zeros to a multiple of 4.
    private static Par2Description? ParseDescription(UInt128 setId, ReadOnlySpan<byte> body)
    {
        if (body.Length < 56)
            return null;
        var length = BinaryPrimitives.ReadUInt64LittleEndian(body[48..]);
        var name = Decode(body[56..]);
        return name.Length == 0 || length > long.MaxValue
            ? null
            : new Par2Description(setId, new Par2File(
                BinaryPrimitives.ReadUInt128BigEndian(body),
                name,
                (long)length,
                BinaryPrimitives.ReadUInt128BigEndian(body[16..]),
                BinaryPrimitives.ReadUInt128BigEndian(body[32..])));
    }

    // File id 16, name in UTF-16.
    private static Par2UnicodeName? ParseUnicodeName(UInt128 setId, ReadOnlySpan<byte> body)
    {
        if (body.Length < 18 || body.Length % 2 != 0)
            return null;
        var name = Encoding.Unicode.GetString(body[16..]).TrimEnd('\0');
        return name.Length == 0 || name.Contains('\0') ? null : new Par2UnicodeName(setId, BinaryPrimitives.ReadUInt128BigEndian(body), name);
    }

    // The specification demands ASCII, but programs write UTF-8, and old programs the system's code page. So invalid UTF-8 is read as Latin-1.
    private static string Decode(ReadOnlySpan<byte> name)
    {
        var end = name.IndexOf((byte)0);
        if (end >= 0)
            name = name[..end];
        try
        {
            return StrictUtf8.GetString(name);
        }
        catch (DecoderFallbackException)
        {
            return Encoding.Latin1.GetString(name);
        }
    }
}
