using System.Buffers.Text;
using System.Globalization;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Tests.Nntp;
using Sluice.Usenet.Tests.Yenc;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>A posted file of equal parts with equal bytes, and a server for it that allocates nothing once a connection is open.</summary>
internal sealed class SteadyPost : ISegmentIds
{
    private readonly SegmentIds[] _ids;
    private readonly int _partSize;
    private readonly byte[] _lines;
    private readonly byte[] _trailer;
    private int _begun;

    public SteadyPost(int parts, int partSize)
    {
        var data = TestArticle.Noise(partSize);
        _partSize = partSize;
        _ids = [.. Enumerable.Range(1, parts).Select(part => new SegmentIds(MessageId.Parse($"{part}@steady"), []))];
        // Without the terminating line, which follows the trailer.
        _lines = TestArticle.OnWire(TestArticle.Encode(data))[..^3];
        _trailer = TestArticle.Bytes(string.Create(CultureInfo.InvariantCulture, $" pcrc32={YencReference.Crc(data):x8}\r\n.\r\n"));
        File = new PostedFile(SegmentMap.Uniform(parts, partSize, Size), this);
    }

    public PostedFile File { get; }

    /// <summary>Number of segments whose load has begun.</summary>
    public int Begun => Volatile.Read(ref _begun);

    public int Count => _ids.Length;

    private long Size => (long)_ids.Length * _partSize;

    public ValueTask<SegmentIds> GetAsync(int index, CancellationToken cancellationToken)
    {
        Interlocked.Increment(ref _begun);
        return new(_ids[index]);
    }

    public void Serve(ScriptedServer.Connection connection)
    {
        const int Around = 512;
        var answer = new byte[_lines.Length + (2 * Around)];
        connection.Send("200 ready\r\n"u8);
        while (connection.ReadCommand() is var command && command.StartsWith("BODY <"u8) && Utf8Parser.TryParse(command["BODY <".Length..], out int part, out _))
        {
            var begin = (part - 1L) * _partSize;
            var length = 0;
            Append(answer, ref length, "222 0 <"u8, part);
            Append(answer, ref length, "@steady>\r\n=ybegin part="u8, part);
            Append(answer, ref length, " total="u8, Count);
            Append(answer, ref length, " line=128 size="u8, Size);
            Append(answer, ref length, " name=film\r\n=ypart begin="u8, begin + 1);
            Append(answer, ref length, " end="u8, begin + _partSize);
            "\r\n"u8.CopyTo(answer.AsSpan(length));
            _lines.CopyTo(answer.AsSpan(length + 2));
            length += 2 + _lines.Length;
            Append(answer, ref length, "=yend size="u8, _partSize);
            Append(answer, ref length, " part="u8, part);
            _trailer.CopyTo(answer.AsSpan(length));
            connection.Send(answer.AsSpan(0, length + _trailer.Length));
        }
    }

    // Not interpolated, because unoptimized code would allocate an object for each number.
    private static void Append(byte[] answer, ref int length, ReadOnlySpan<byte> words, long number)
    {
        words.CopyTo(answer.AsSpan(length));
        length += words.Length;
        if (!Utf8Formatter.TryFormat(number, answer.AsSpan(length), out var digits))
            throw new InvalidOperationException("The answer is too long.");
        length += digits;
    }
}
