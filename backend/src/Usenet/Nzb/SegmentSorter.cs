using System.Buffers.Binary;
using System.Collections;
using System.Security.Cryptography;

namespace Sluice.Usenet.Nzb;

/// <summary>Sorts the segments of a file by number. The first of equal numbers is the primary, and up to three others become fallbacks.</summary>
/// <remarks>Segments without a number follow the highest number in document order (IMP-15). Uses 8 bytes per segment.</remarks>
internal static class SegmentSorter
{
    // A key combines the number and the position in the spool, so that equal numbers keep document order.
    private const int PlaceBits = 40;

    // Ids compared in one pass: about 8 MB.
    private const int IdsAtOnce = 200_000;

    /// <summary>Sorts a completed spool into another spool, with one segment per number, and completes the other spool.</summary>
    /// <exception cref="IOException">A scratch file failed.</exception>
    public static void Sort(SegmentSpool listed, SegmentSpool sorted)
    {
        var keys = MakeKeys(listed, out var count);
        Array.Sort(keys, 0, count);

        sorted.Clear();
        Span<byte> ids = stackalloc byte[PackedIds.MaxLength];
        for (var i = 0; i < count;)
        {
            var number = NumberOf(keys[i]);
            var first = listed.Read(PlaceOf(keys[i]));
            var (bytes, length) = (first.Bytes, first.PackedIds.Length);
            first.PackedIds.CopyTo(ids);
            for (i++; i < count && NumberOf(keys[i]) == number; i++)
                PackedIds.Merge(ids, ref length, listed.Read(PlaceOf(keys[i])).PackedIds);
            sorted.Add(number, bytes, ids[..length]);
        }

        sorted.Complete();
    }

    private static ulong[] MakeKeys(SegmentSpool listed, out int count)
    {
        var (highest, numbered) = (0, 0);
        for (var place = 0L; place < listed.End;)
        {
            var segment = listed.Read(place);
            highest = Math.Max(highest, segment.Number);
            numbered += segment.Number > 0 ? 1 : 0;
            place = segment.Next;
        }

        var repeated = numbered < listed.Count ? FindRepeated(listed, numbered > 0) : null;
        var keys = new ulong[listed.Count];
        (count, var index) = (0, 0);
        for (var place = 0L; place < listed.End; index++)
        {
            var segment = listed.Read(place);
            if (segment.Number > 0 || !repeated![index])
                keys[count++] = ((ulong)(segment.Number > 0 ? segment.Number : ++highest) << PlaceBits) | (ulong)place;
            place = segment.Next;
        }

        return keys;
    }

    /// <summary>Finds segments without a number that repeat a numbered or an earlier article, by their index in the spool.</summary>
    private static BitArray FindRepeated(SegmentSpool listed, bool anyNumbered)
    {
        // Very many ids are compared in shares to save memory. A seeded hash selects the share of an id, so that an NZB cannot overload one share.
        var shares = 1 + (listed.Count / IdsAtOnce);
        var repeated = new BitArray(listed.Count);
        var known = new HashSet<UInt128>(Math.Min(listed.Count, IdsAtOnce));
        for (var share = 0; share < shares; share++)
        {
            known.Clear();
            if (anyNumbered)
                Compare(share, numbered: true);
            Compare(share, numbered: false);
        }

        return repeated;

        void Compare(int share, bool numbered)
        {
            var index = 0;
            for (var place = 0L; place < listed.End; index++)
            {
                var segment = listed.Read(place);
                place = segment.Next;
                if (segment.Number > 0 == numbered && ShareOf(segment.PackedIds) == share
                    && !known.Add(Fingerprint(segment.PackedIds)) && !numbered)
                    repeated[index] = true;
            }
        }

        int ShareOf(ReadOnlySpan<byte> ids)
        {
            if (shares == 1)
                return 0;
            var hash = default(HashCode);
            hash.AddBytes(ids);
            return (int)((uint)hash.ToHashCode() % shares);
        }
    }

    private static UInt128 Fingerprint(ReadOnlySpan<byte> ids)
    {
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(ids, hash);
        return BinaryPrimitives.ReadUInt128LittleEndian(hash);
    }

    private static int NumberOf(ulong key) => (int)(key >> PlaceBits);

    private static long PlaceOf(ulong key) => (long)(key & ((1UL << PlaceBits) - 1));
}
