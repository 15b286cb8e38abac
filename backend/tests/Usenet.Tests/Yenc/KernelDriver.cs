using Sluice.Usenet.Yenc;
using Xunit;

namespace Sluice.Usenet.Tests.Yenc;

/// <summary>Runs a kernel over pieces of input and of output space, and checks the contract of every single call.</summary>
internal sealed class KernelDriver(YencKernel kernel)
{
    private const byte Canary = 0xA5;

    private readonly byte[] _room = new byte[8192];
    private readonly List<byte> _output = [];
    private readonly List<(YencStop, int)> _stops = [];
    private int _position;
    private bool _ended;

    /// <summary>Decodes to the end of the pieces or of the article, each call with the space that <paramref name="nextRoom"/> returns.</summary>
    public YencReference.Outcome Run(IEnumerable<ReadOnlyMemory<byte>> pieces, Func<int> nextRoom)
    {
        YencState state = default;
        _output.Clear();
        _stops.Clear();
        _position = 0;
        _ended = false;
        foreach (var piece in pieces)
        {
            var rest = piece.Span;
            var stop = YencStop.DestinationFull;
            while (!_ended && stop != YencStop.NeedInput)
                stop = Step(ref rest, Math.Min(nextRoom(), _room.Length - 64), ref state);
        }

        return new YencReference.Outcome([.. _output], [.. _stops]);
    }

    private YencStop Step(ref ReadOnlySpan<byte> rest, int room, ref YencState state)
    {
        var canary = _room.AsSpan(room, 64);
        canary.Fill(Canary);
        var stop = kernel.Decode(rest, _room.AsSpan(0, room), ref state, out var consumed, out var written);

        if (canary.ContainsAnyExcept(Canary))
            Assert.Fail($"{kernel} wrote past its destination of {room} bytes");
        if (stop == YencStop.DestinationFull && written != room)
            Assert.Fail($"{kernel} calls {room} bytes full after {written}");
        if (stop == YencStop.NeedInput && consumed != rest.Length)
            Assert.Fail($"{kernel} wants more and left {rest.Length - consumed} bytes");

        foreach (var b in _room.AsSpan(0, written))
            _output.Add(b);
        _position += consumed;
        rest = rest[consumed..];
        if (stop is YencStop.Keyword or YencStop.ArticleEnd)
            _stops.Add((stop, _position));
        _ended = stop == YencStop.ArticleEnd;
        return stop;
    }

    /// <summary>Compares with the reference; the failure message shows the input.</summary>
    public void AssertSame(ReadOnlyMemory<byte> input, YencReference.Outcome expected, IEnumerable<ReadOnlyMemory<byte>> pieces, Func<int> nextRoom)
    {
        var actual = Run(pieces, nextRoom);
        if (!expected.Output.AsSpan().SequenceEqual(actual.Output) || !expected.Stops.SequenceEqual(actual.Stops))
        {
            Assert.Fail(
                $"{kernel} differs on {Convert.ToHexString(input.Span)}\n"
                + $"expected {Convert.ToHexString(expected.Output)} {string.Join(' ', expected.Stops)}\n"
                + $"actual   {Convert.ToHexString(actual.Output)} {string.Join(' ', actual.Stops)}");
        }
    }
}
