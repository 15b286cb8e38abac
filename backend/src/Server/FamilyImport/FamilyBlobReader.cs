using System.Buffers.Binary;
using System.Text;

namespace Sluice.Server.FamilyImport;

/// <summary>
/// Reads the version-tolerant MemoryPack objects that describe files in old blobs. Each object starts with its member count and member lengths, so that unknown
/// members can be skipped. Never allocates memory based on an unchecked length.
/// </summary>
internal ref struct FamilyBlobReader
{
    private const byte NullObject = 255;

    private ReadOnlySpan<byte> _rest;

    private FamilyBlobReader(ReadOnlySpan<byte> bytes) => _rest = bytes;

    /// <summary>Reads an unpacked blob. The caller passes the file length, because a blob for a plain post does not contain it.</summary>
    /// <exception cref="FamilyFormatException">The blob has another format.</exception>
    public static FamilyContent Read(FamilyKind kind, ReadOnlySpan<byte> bytes, long length)
    {
        var members = new FamilyBlobReader(bytes).ReadMembers(bytes);
        return kind switch
        {
            FamilyKind.Nzb => new FamilyContent([new FamilyPart(Texts(members[1]), length, 0, length) { Segments = Lengths(members[2]) }]),
            FamilyKind.Rar => new FamilyContent(List(members[1], RarPart)),
            _ => Multipart(members[1]),
        };
    }

    private static FamilyContent Multipart(ReadOnlySpan<byte> meta)
    {
        var members = new FamilyBlobReader(meta).ReadMembers(meta);
        FamilyCipher? cipher = null;
        if (members[0] is { Length: > 0 } aes && aes[0] != NullObject)
        {
            var parts = new FamilyBlobReader(aes).ReadMembers(aes);
            cipher = new FamilyCipher(Bytes(parts[2]), Bytes(parts[1]), Number(parts[0]));
        }

        var pending = List(members[5], PendingPart);
        var isUnfinished = members[2] is [not 0, ..] || pending.Count > 0;
        return new FamilyContent(List(members[1], FilePart))
        {
            Cipher = cipher,
            IsUnfinished = isUnfinished,
            Pending = pending,
            // Only lazily read files have a path inside an archive.
            IsLazy = isUnfinished || Text(members[3]).Length > 0,
            Password = Text(members[4]) is { Length: > 0 } password ? password : null,
        };
    }

    private static FamilyPart PendingPart(ReadOnlySpan<byte> part)
    {
        var members = new FamilyBlobReader(part).ReadMembers(part);
        return new FamilyPart(Texts(members[0]), Range(members[1]).End, 0, 0);
    }

    private static FamilyPart RarPart(ReadOnlySpan<byte> part)
    {
        var members = new FamilyBlobReader(part).ReadMembers(part);
        return new FamilyPart(Texts(members[0]), Number(members[1]), Number(members[2]), Number(members[3])) { Segments = Lengths(members[4]) };
    }

    private static FamilyPart FilePart(ReadOnlySpan<byte> part)
    {
        var members = new FamilyBlobReader(part).ReadMembers(part);
        var (posted, file) = (Range(members[1]), Range(members[2]));
        if (posted.Begin != 0)
            throw new FamilyFormatException("it begins inside a posted file whose beginning the old database does not know");
        return new FamilyPart(Texts(members[0]), posted.End, file.Begin, file.End - file.Begin) { Segments = Lengths(members[3]) };
    }

    private static (long Begin, long End) Range(ReadOnlySpan<byte> range)
    {
        var members = new FamilyBlobReader(range).ReadMembers(range);
        return (Number(members[0]), Number(members[1]));
    }

    private delegate T Reader<T>(ReadOnlySpan<byte> bytes);

    private static List<T> List<T>(ReadOnlySpan<byte> bytes, Reader<T> read)
    {
        var reader = new FamilyBlobReader(bytes);
        var items = new List<T>();
        for (var left = bytes.IsEmpty ? 0 : reader.TakeInt32(); left > 0; left--)
            items.Add(read(reader.TakeObject()));
        return items;
    }

    private static string Text(ReadOnlySpan<byte> bytes) => bytes.IsEmpty ? "" : new FamilyBlobReader(bytes).TakeText();

    private static List<string> Texts(ReadOnlySpan<byte> bytes)
    {
        var reader = new FamilyBlobReader(bytes);
        var texts = new List<string>();
        for (var left = bytes.IsEmpty ? 0 : reader.TakeInt32(); left > 0; left--)
            texts.Add(reader.TakeText());
        return texts;
    }

    /// <summary>Returns the lengths of adjacent ranges; null if there are none or they are not adjacent.</summary>
    private static List<long>? Lengths(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length <= sizeof(int))
            return null;
        var end = 0L;
        var lengths = new List<long>();
        foreach (var (from, to) in List(bytes, Range))
        {
            if (from != end || to < from)
                return null;
            lengths.Add(to - from);
            end = to;
        }

        return lengths.Count == 0 ? null : lengths;
    }

    private static byte[] Bytes(ReadOnlySpan<byte> bytes)
    {
        var reader = new FamilyBlobReader(bytes);
        return reader.Take(reader.TakeInt32()).ToArray();
    }

    private static long Number(ReadOnlySpan<byte> bytes) =>
        bytes.Length == sizeof(long) ? BinaryPrimitives.ReadInt64LittleEndian(bytes) : throw Damaged();

    private static FamilyFormatException Damaged() => new("what the old database says about it is damaged or cut short");

    /// <summary>Reads an object's members. Throws if they extend past the end of the bytes.</summary>
    private Members ReadMembers(ReadOnlySpan<byte> whole)
    {
        var members = Measure(out var length);
        return length <= whole.Length ? members : throw Damaged();
    }

    private ReadOnlySpan<byte> TakeObject()
    {
        if (_rest is [NullObject, ..])
            throw Damaged();
        _ = new FamilyBlobReader(_rest).Measure(out var length);
        return Take(length);
    }

    /// <summary>Reads an object's header, which gives the position of each member and the total length.</summary>
    private Members Measure(out int length)
    {
        var whole = _rest;
        var count = Take(1)[0];
        if (count > Members.Most)
            throw Damaged();
        Span<int> lengths = stackalloc int[Members.Most];
        for (var i = 0; i < count; i++)
            lengths[i] = TakeVarInt();
        var members = new Members(whole, whole.Length - _rest.Length);
        for (var i = 0; i < count; i++)
        {
            Take(lengths[i]);
            members.Add(lengths[i]);
        }

        length = whole.Length - _rest.Length;
        return members;
    }

    private ReadOnlySpan<byte> Take(int count)
    {
        if (count < 0 || count > _rest.Length)
            throw Damaged();
        var taken = _rest[..count];
        _rest = _rest[count..];
        return taken;
    }

    private int TakeInt32() => BinaryPrimitives.ReadInt32LittleEndian(Take(sizeof(int)));

    /// <summary>A small number takes one byte. A code of −121 or below gives the size of the number that follows.</summary>
    private int TakeVarInt() => (sbyte)Take(1)[0] switch
    {
        >= 0 and var small => small,
        -121 => Take(1)[0],
        -123 => BinaryPrimitives.ReadUInt16LittleEndian(Take(2)),
        -124 => BinaryPrimitives.ReadInt16LittleEndian(Take(2)),
        -125 or -126 => BinaryPrimitives.ReadInt32LittleEndian(Take(4)),
        _ => throw Damaged(),
    };

    /// <summary>Reads a string: UTF-8 after the complement of its byte length and its character count, or UTF-16 after its character count.</summary>
    private string TakeText()
    {
        var head = TakeInt32();
        if (head is 0 or -1)
            return "";
        if (head > 0)
            return head <= _rest.Length / 2 ? Encoding.Unicode.GetString(Take(head * 2)) : throw Damaged();
        _ = TakeInt32();
        return Encoding.UTF8.GetString(Take(~head));
    }

    /// <summary>The positions of an object's members. A missing member is empty.</summary>
    private ref struct Members(ReadOnlySpan<byte> whole, int begin)
    {
        /// <summary>Upper limit; no version has more members.</summary>
        public const int Most = 32;

        private readonly ReadOnlySpan<byte> _whole = whole;
        private Ends _ends;
        private int _count;
        private readonly int _begin = begin;

        public readonly ReadOnlySpan<byte> this[int index]
        {
            get
            {
                if (index >= _count)
                    return [];
                var from = index == 0 ? _begin : _ends[index - 1];
                return _whole[from.._ends[index]];
            }
        }

        public void Add(int length)
        {
            _ends[_count] = (_count == 0 ? _begin : _ends[_count - 1]) + length;
            _count++;
        }
    }

    [System.Runtime.CompilerServices.InlineArray(Members.Most)]
    private struct Ends
    {
        private int _first;
    }
}
