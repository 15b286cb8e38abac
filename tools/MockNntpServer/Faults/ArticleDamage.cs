using System.Globalization;
using System.Text;
using System.Text.RegularExpressions;
using Sluice.Tools.MockNntpServer.Articles;

namespace Sluice.Tools.MockNntpServer.Faults;

/// <summary>Creates a damaged article from an intact one, synthetic or from the spool. Pure.</summary>
internal static partial class ArticleDamage
{
    /// <summary>Returns the damaged article; null if the damage does not apply to this article.</summary>
    public static WireArticle? Apply(FaultKind kind, WireArticle article, ulong bits)
    {
        var plain = article.GetPlainBody();
        if (MockMessageId.TryParse(article.MessageId, out var id) && id.IsUuencoded)
            return DamageLines(kind, plain, bits) is { } lines ? article.WithPlainBody(lines) : null;
        if (!YencBody.TryParse(plain, out var body))
            return null;
        var damaged = kind switch
        {
            FaultKind.Corrupt => CorruptOneByte(body, bits),
            FaultKind.Body8Bit => BareNulls(body),
            FaultKind.YencNoBegin => body with { Begin = "" },
            FaultKind.YencNoEnd => body with { End = "" },
            FaultKind.YencPart => body with { Begin = Number().Replace(body.Begin, Add("part", 1)), End = Number().Replace(body.End, Add("part", 1)) },
            FaultKind.YencBegin => body with { Part = Number().Replace(body.Part, match => Add("begin", 128)(match) is var moved && moved != match.Value ? moved : Add("end", 128)(match)) },
            FaultKind.YencEnd => body with { Part = Number().Replace(body.Part, Add("end", 1)) },
            FaultKind.YencTotal => body with { Begin = Number().Replace(body.Begin, Add("total", 7)) },
            FaultKind.YencSize => body with { Begin = Number().Replace(body.Begin, Add("size", 4096)) },
            FaultKind.YencName => body with { Begin = NameField().Replace(body.Begin, " name=decoy.exe") },
            FaultKind.YencNoTotal => body with { Begin = TotalField().Replace(body.Begin, "") },
            FaultKind.YencPartCrc => body with { End = CrcField().Replace(body.End, match => $"{match.Groups[1].Value}={~Convert.ToUInt32(match.Groups[2].Value, 16):x8}") },
            FaultKind.YencShort => WithoutLastLine(body),
            FaultKind.YencLong => WithFirstLineTwice(body),
            FaultKind.YencUuencode => AsUuencode(body),
            FaultKind.YencEmpty => body with { Lines = default, End = CrcField().Replace(Number().Replace(body.End, match => match.Groups[1].Value == "size" ? "size=0" : match.Value), "$1=00000000") },
            FaultKind.YencNoCrc => body with { End = CrcField().Replace(body.End, "").TrimEnd() },
            FaultKind.YencBadCrc => body with { End = CrcField().Replace(body.End, "$1=zzzzzzzz") },
            FaultKind.YencNoRange => body with { Part = "" },
            FaultKind.YencBadRange => body with { Part = Number().Replace(body.Part, match => match.Groups[1].Value == "end" ? "end=1" : $"begin={long.MaxValue}") },
            _ => throw new InvalidOperationException($"{kind} is no damage to an article."),
        };
        return damaged is null ? null : article.WithPlainBody(damaged.ToBytes());
    }

    /// <summary>Damages uuencode lines. Other kinds do not apply, because uuencode lacks their fields.</summary>
    private static byte[]? DamageLines(FaultKind kind, ReadOnlySpan<byte> body, ulong bits)
    {
        var from = body.StartsWith("begin "u8) ? body.IndexOf((byte)'\n') + 1 : 0;
        var to = body.EndsWith(Uuencoder.End) ? body.Length - Uuencoder.End.Length : body.Length;
        var lines = new YencBody("", "", body[from..to].ToArray(), "");
        var damaged = kind switch
        {
            FaultKind.Corrupt => CorruptOneByte(lines, bits),
            FaultKind.YencShort => WithoutLastLine(lines),
            FaultKind.YencLong => WithFirstLineTwice(lines),
            _ => null,
        };
        return damaged is null ? null : [.. body[..from], .. damaged.Lines.Span, .. body[to..]];
    }

    /// <summary>Replaces one data byte by another that needs no escape, so that the length does not change.</summary>
    private static YencBody? CorruptOneByte(YencBody body, ulong bits)
    {
        var lines = body.Lines.ToArray();
        for (int i = 0, at = lines.Length == 0 ? 0 : (int)(bits % (ulong)lines.Length); i < lines.Length; i++, at = (at + 1) % lines.Length)
        {
            var wrong = (byte)(lines[at] ^ 0x80);
            if (IsPlain(lines[at]) && IsPlain(wrong) && at > 0 && lines[at - 1] is not ((byte)'=' or (byte)'\n'))
            {
                lines[at] = wrong;
                return body with { Lines = lines };
            }
        }

        return null;
    }

    /// <summary>Returns the same bytes as a complete uuencoded file.</summary>
    private static YencBody AsUuencode(YencBody body)
    {
        var bytes = new List<byte>(body.Lines.Length);
        var lines = body.Lines.Span;
        for (var i = 0; i < lines.Length; i++)
        {
            if (lines[i] is not ((byte)'\r' or (byte)'\n'))
                bytes.Add(unchecked(lines[i] == (byte)'=' ? (byte)(lines[++i] - 64 - 42) : (byte)(lines[i] - 42)));
        }

        return new YencBody("", "", Uuencoder.Encode([.. bytes], NameField().Match(body.Begin).Value[" name=".Length..], ends: true), "");
    }

    private static bool IsPlain(byte b) => b is not (0 or (byte)'\r' or (byte)'\n' or (byte)'=');

    /// <summary>Unescapes every NUL, and puts invalid UTF-8 into the name. A text search suffices, because only NUL is escaped as "=@".</summary>
    private static YencBody BareNulls(YencBody body) => body with
    {
        Lines = Encoding.Latin1.GetBytes(Encoding.Latin1.GetString(body.Lines.Span).Replace("=@", "\0", StringComparison.Ordinal)),
        Begin = body.Begin.Replace(" name=", " name=\u00E9\u00FF", StringComparison.Ordinal),
    };

    private static YencBody? WithoutLastLine(YencBody body)
    {
        var lines = body.Lines.Span;
        if (lines.IsEmpty)
            return null;
        return body with { Lines = body.Lines[..(lines[..^2].LastIndexOf((byte)'\n') + 1)] };
    }

    private static YencBody? WithFirstLineTwice(YencBody body)
    {
        var lines = body.Lines.Span;
        return lines.IsEmpty ? null : body with { Lines = (byte[])[.. lines[..(lines.IndexOf((byte)'\n') + 1)], .. lines] };
    }

    private static MatchEvaluator Add(string field, long amount) => match => match.Groups[1].Value == field
        ? $"{field}={(long.Parse(match.Groups[2].Value, CultureInfo.InvariantCulture) + amount).ToString(CultureInfo.InvariantCulture)}"
        : match.Value;

    [GeneratedRegex(@"\b(part|total|size|begin|end)=(\d+)")]
    private static partial Regex Number();

    [GeneratedRegex(@" total=\d+")]
    private static partial Regex TotalField();

    [GeneratedRegex(" name=.*")]
    private static partial Regex NameField();

    [GeneratedRegex("\\b(p?crc32)=([0-9a-fA-F]{1,8})")]
    private static partial Regex CrcField();
}
