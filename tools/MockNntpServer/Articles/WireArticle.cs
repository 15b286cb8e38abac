using System.Text;

namespace Sluice.Tools.MockNntpServer.Articles;

/// <summary>An article ready to send: headers, and the complete BODY response in one array. Immutable.</summary>
internal sealed class WireArticle
{
    private readonly byte[] _bodyAnswer;
    private readonly int _bodyStart;

    /// <summary>Creates the response from a body that is dot-stuffed and ends with CRLF, or is empty.</summary>
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

    /// <summary>Size and CRC for the NZB; default for a spool article.</summary>
    public PostedSize Posted { get; init; }

    /// <summary>Message-id without angle brackets.</summary>
    public string MessageId { get; }

    /// <summary>Header lines, each with CRLF, without the empty line.</summary>
    public byte[] Headers { get; }

    /// <summary>Status line, stuffed body and terminator.</summary>
    public ReadOnlyMemory<byte> BodyAnswer => _bodyAnswer;

    /// <summary>Offset of the body in <see cref="BodyAnswer"/>.</summary>
    public int BodyStart => _bodyStart;

    /// <summary>Stuffed body and terminator, without a status line.</summary>
    public ReadOnlyMemory<byte> StuffedBody => _bodyAnswer.AsMemory(_bodyStart);

    private static ReadOnlySpan<byte> Terminator => ".\r\n"u8;

    public long Cost => _bodyAnswer.Length + Headers.Length + 200;

    /// <summary>Returns the body as posted, without dot-stuffing and terminator.</summary>
    public byte[] GetPlainBody() => DotStuffing.Remove(_bodyAnswer.AsSpan(_bodyStart, _bodyAnswer.Length - _bodyStart - 3));

    /// <summary>Returns the same article with another body, given as posted.</summary>
    public WireArticle WithPlainBody(ReadOnlySpan<byte> body) => new(MessageId, Headers, DotStuffing.Add(body));
}
