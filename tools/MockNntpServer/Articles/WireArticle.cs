using System.Text;

namespace Sluice.Tools.MockNntpServer.Articles;

/// <summary>An article ready to be sent: the whole answer to BODY in one array, the headers beside it. Immutable.</summary>
internal sealed class WireArticle
{
    private readonly byte[] _bodyAnswer;
    private readonly int _bodyStart;

    /// <summary>Builds the answer from a body that is already dot-stuffed and ends with CRLF, or is empty.</summary>
    public WireArticle(string messageId, byte[] headers, ReadOnlySpan<byte> stuffedBody)
    {
        MessageId = messageId;
        Headers = headers;
        var status = Encoding.UTF8.GetBytes($"222 0 <{messageId}>\r\n");
        _bodyStart = status.Length;
        _bodyAnswer = GC.AllocateUninitializedArray<byte>(status.Length + stuffedBody.Length + Terminator.Length);
        status.CopyTo(_bodyAnswer, 0);
        stuffedBody.CopyTo(_bodyAnswer.AsSpan(_bodyStart));
        Terminator.CopyTo(_bodyAnswer.AsSpan(_bodyStart + stuffedBody.Length));
    }

    /// <summary>What an NZB needs of it; default for an article of the spool.</summary>
    public PostedSize Posted { get; init; }

    /// <summary>The article's name, without angle brackets.</summary>
    public string MessageId { get; }

    /// <summary>Header lines, each with CRLF, without the empty line.</summary>
    public byte[] Headers { get; }

    /// <summary>Status line, stuffed body and terminator.</summary>
    public ReadOnlyMemory<byte> BodyAnswer => _bodyAnswer;

    /// <summary>Where the body begins in <see cref="BodyAnswer"/>.</summary>
    public int BodyStart => _bodyStart;

    /// <summary>Stuffed body and terminator, as it follows any status line.</summary>
    public ReadOnlyMemory<byte> StuffedBody => _bodyAnswer.AsMemory(_bodyStart);

    private static ReadOnlySpan<byte> Terminator => ".\r\n"u8;

    /// <summary>Memory it takes in a cache.</summary>
    public long Cost => _bodyAnswer.Length + Headers.Length + 200;

    /// <summary>The body as posted: dots not doubled, no terminator.</summary>
    public byte[] GetPlainBody() => DotStuffing.Remove(_bodyAnswer.AsSpan(_bodyStart, _bodyAnswer.Length - _bodyStart - 3));

    /// <summary>The same article with another body, given as posted.</summary>
    public WireArticle WithPlainBody(ReadOnlySpan<byte> body) => new(MessageId, Headers, DotStuffing.Add(body));
}
