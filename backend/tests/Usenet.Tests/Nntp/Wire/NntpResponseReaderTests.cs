using System.Buffers;
using System.Text;
using Sluice.Testing;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Wire;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

public sealed class NntpResponseReaderTests
{
    private const int MaxLine = 64 * 1024;

    [Theory]
    [InlineData("200 ready\r\n", 200, "ready")]
    [InlineData("222 0 <a@b>\r\n", 222, "0 <a@b>")]
    [InlineData("430\r\n", 430, "")]
    [InlineData("281 ok\n", 281, "ok")]
    [InlineData("400 \r\n", 400, "")]
    public void Line_is_parsed_at_every_split_and_keeps_following_bytes(string line, int code, string text)
    {
        const string Behind = "=ybegin";
        var input = Encoding.ASCII.GetBytes(line + Behind);
        foreach (var pieces in Splits.EveryPosition(input))
        {
            var buffer = Sequence(pieces);
            Assert.True(NntpResponseReader.TryRead(ref buffer, MaxLine, out var response));
            Assert.Equal(code, response.Code);
            Assert.Equal(text, Encoding.ASCII.GetString(response.Text.ToArray()));
            Assert.Equal(Behind, Encoding.ASCII.GetString(buffer.ToArray()));
        }
    }

    [Fact]
    public void An_incomplete_line_consumes_nothing()
    {
        var whole = "222 0 <a@b> body\r\n"u8.ToArray();
        for (var length = 0; length < whole.Length; length++)
        {
            var buffer = new ReadOnlySequence<byte>(whole, 0, length);
            Assert.False(NntpResponseReader.TryRead(ref buffer, MaxLine, out _));
            Assert.Equal(length, buffer.Length);
        }
    }

    [Theory]
    [InlineData("\r\n")]
    [InlineData("20\r\n")]
    [InlineData("abc def\r\n")]
    [InlineData("2000 ready\r\n")]
    [InlineData("600 no\r\n")]
    [InlineData("099 no\r\n")]
    [InlineData("=ybegin part=1\r\n")]
    public void Invalid_status_line_is_a_malformed_reply(string line)
    {
        var buffer = new ReadOnlySequence<byte>(Encoding.ASCII.GetBytes(line));
        var thrown = Assert.Throws<NntpException>(() => NntpResponseReader.TryRead(ref buffer, MaxLine, out _));
        Assert.Equal(NntpFault.MalformedReply, thrown.Fault);
    }

    [Theory]
    [InlineData(-1, true)]
    [InlineData(0, true)]
    [InlineData(1, false)]
    public void Line_one_byte_over_the_limit_is_refused(int over, bool accepted)
    {
        const int Limit = 1000;
        var line = new byte[Limit + over + 1];
        line.AsSpan().Fill((byte)'x');
        "200 "u8.CopyTo(line);
        line[^1] = (byte)'\n';
        var whole = new ReadOnlySequence<byte>(line);
        var endless = new ReadOnlySequence<byte>(line, 0, line.Length - 1);
        if (accepted)
        {
            Assert.True(NntpResponseReader.TryRead(ref whole, Limit, out _));
            Assert.False(NntpResponseReader.TryRead(ref endless, Limit, out _));
            return;
        }

        Assert.Throws<NntpException>(() => NntpResponseReader.TryRead(ref whole, Limit, out _));
        Assert.Throws<NntpException>(() => NntpResponseReader.TryRead(ref endless, Limit, out _));
    }

    [Theory]
    [InlineData("222 0 <a@b>", true)]
    [InlineData("222 0 <a@b> body follows", true)]
    [InlineData("222 0 <a@bc>", false)]
    [InlineData("222 0 <a@", false)]
    [InlineData("222 0 <b@a>", false)]
    [InlineData("222 body follows", null)]
    [InlineData("222", null)]
    public void The_echoed_id_is_compared_whole(string line, bool? names)
    {
        foreach (var pieces in Splits.EveryPosition(Encoding.ASCII.GetBytes(line + "\r\n")))
        {
            var buffer = Sequence(pieces);
            Assert.True(NntpResponseReader.TryRead(ref buffer, MaxLine, out var response));
            Assert.Equal(names, NntpResponseReader.Names(response, "a@b"u8));
        }
    }

    [Theory]
    [InlineData("502 Too many connections for your account", true)]
    [InlineData("481 You have reached the maximum number of connections", true)]
    [InlineData("482 connection limit reached", true)]
    [InlineData("502 access denied", false)]
    [InlineData("481 wrong password", false)]
    public void Too_many_connections_is_recognized_by_the_reply_text(string line, bool tooMany)
    {
        var buffer = new ReadOnlySequence<byte>(Encoding.ASCII.GetBytes(line + "\r\n"));
        Assert.True(NntpResponseReader.TryRead(ref buffer, MaxLine, out var response));
        Assert.Equal(tooMany, response.SaysTooManyConnections());
    }

    private static ReadOnlySequence<byte> Sequence(IReadOnlyList<ReadOnlyMemory<byte>> pieces)
    {
        var first = new Piece(pieces[0], 0);
        var last = first;
        foreach (var piece in pieces.Skip(1))
            last = last.Append(piece);
        return new ReadOnlySequence<byte>(first, 0, last, last.Memory.Length);
    }

    private sealed class Piece : ReadOnlySequenceSegment<byte>
    {
        public Piece(ReadOnlyMemory<byte> memory, long runningIndex)
        {
            Memory = memory;
            RunningIndex = runningIndex;
        }

        public Piece Append(ReadOnlyMemory<byte> memory)
        {
            var next = new Piece(memory, RunningIndex + Memory.Length);
            Next = next;
            return next;
        }
    }
}
