using System.Diagnostics.CodeAnalysis;
using System.Net;

namespace Sluice.Tools.MockNntpServer;

/// <summary>The stderr line by which the executable reports its endpoints once it listens.</summary>
/// <param name="AuthorityFile">PEM file of the authority that a client must trust; null without TLS.</param>
public sealed record ReadyLine(IReadOnlyList<IPEndPoint> Providers, IPEndPoint Control, string? AuthorityFile)
{
    private const string Ready = "ready nntp=";
    private const string ControlField = " control=";
    private const string AuthorityField = " ca=";

    public static bool TryParse(string? line, [NotNullWhen(true)] out ReadyLine? ready)
    {
        ready = null;
        if (line is null || !line.StartsWith(Ready, StringComparison.Ordinal))
            return false;
        var control = line.IndexOf(ControlField, StringComparison.Ordinal);
        if (control < 0)
            return false;
        var authority = line.IndexOf(AuthorityField, control, StringComparison.Ordinal);
        var controlEnd = authority < 0 ? line.Length : authority;
        ready = new ReadyLine(
            [.. line[Ready.Length..control].Split(',').Select(IPEndPoint.Parse)],
            IPEndPoint.Parse(line[(control + ControlField.Length)..controlEnd]),
            authority < 0 ? null : line[(authority + AuthorityField.Length)..]);
        return true;
    }

    public override string ToString() =>
        $"{Ready}{string.Join(',', Providers)}{ControlField}{Control}{(AuthorityFile is null ? "" : AuthorityField + AuthorityFile)}";
}
