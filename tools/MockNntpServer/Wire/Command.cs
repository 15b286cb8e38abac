namespace Sluice.Tools.MockNntpServer.Wire;

/// <param name="Verb">In capitals; AUTHINFO includes USER or PASS.</param>
/// <param name="Argument">Trimmed rest of the line; may be empty.</param>
/// <param name="Arrived">Timestamp of its last byte.</param>
/// <param name="Try">
/// For BODY and ARTICLE the number of requests for the article at the provider, including this one. For other commands one more than the
/// requests so far, and for DATE and QUIT the number of the command.
/// </param>
/// <param name="Waiting">Commands pending on the connection at its arrival, including itself.</param>
internal sealed record Command(string Verb, string Argument, long Arrived, int Number, int Try, int Waiting)
{
    /// <summary>The requested message-id without brackets; null if the argument is not a message-id.</summary>
    public string? MessageId => MessageIdOf(Argument);

    public static (string Verb, string Argument) Split(string line)
    {
        var words = line.Split(' ', 2, StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries);
        if (words.Length == 0)
            return ("", "");
        var verb = words[0].ToUpperInvariant();
        var argument = words.Length > 1 ? words[1] : "";
        if (verb is not "AUTHINFO")
            return (verb, argument);

        var kind = argument.Split(' ', 2, StringSplitOptions.TrimEntries);
        return ($"AUTHINFO {kind[0].ToUpperInvariant()}", kind.Length > 1 ? kind[1] : "");
    }

    /// <summary>Returns the id between angle brackets, or null.</summary>
    public static string? MessageIdOf(string argument) =>
        argument.Length > 2 && argument[0] == '<' && argument[^1] == '>' ? argument[1..^1] : null;
}
