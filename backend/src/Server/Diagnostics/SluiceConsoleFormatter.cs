using System.Buffers;
using System.Globalization;
using System.Text;
using System.Text.Json;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Logging.Console;
using Microsoft.Extensions.Options;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Diagnostics;

/// <summary>Formats each message as a single line of text or JSON, without secrets.</summary>
internal sealed class SluiceConsoleFormatter(IOptionsMonitor<GeneralOptions> general, LogRedactor redactor, TimeProvider time)
    : ConsoleFormatter(FormatterName)
{
    public const string FormatterName = "sluice";

    private const string HostCategory = "Microsoft.Extensions.Hosting.Internal.Host";
    private const int StartFailed = 11;
    private const string MoreFollow = " (more of this kind within a minute are not shown)";

    private readonly LogThrottle _throttle = new(time);

    public override void Write<TState>(in LogEntry<TState> logEntry, IExternalScopeProvider? scopeProvider, TextWriter textWriter)
    {
        // A failed startup prints a separate line on stderr, which a stack trace would hide.
        if (logEntry.EventId.Id == StartFailed && logEntry.Category == HostCategory)
            return;

        var share = _throttle.Take(logEntry.LogLevel, logEntry.Category, logEntry.EventId, logEntry.Exception);
        if (share == LogShare.Nothing)
            return;

        var message = logEntry.Formatter(logEntry.State, logEntry.Exception) + (share == LogShare.Last ? MoreFollow : "");
        var exception = logEntry.Exception is not { } failure ? null
            : share == LogShare.Whole ? failure.ToString()
            : $"{failure.GetType()}: {failure.Message}";
        var line = general.CurrentValue.JsonLog
            ? Json(logEntry.LogLevel, logEntry.Category, logEntry.EventId, message, exception)
            : Text(logEntry.LogLevel, logEntry.Category, message, exception);
        textWriter.WriteLine(redactor.Redact(line));
    }

    private string Now() => time.WallTime().ToString("yyyy-MM-dd'T'HH:mm:ss.fff'Z'", CultureInfo.InvariantCulture);

    private string Text(LogLevel level, string category, string message, string? exception)
    {
        var line = new StringBuilder(message.Length + 80)
            .Append(Now()).Append(' ').Append(LevelName(level).PadRight(5)).Append(' ')
            .Append(category.AsSpan(category.LastIndexOf('.') + 1)).Append(": ");
        foreach (var c in message)
            line.Append(char.IsControl(c) ? ' ' : c);
        if (exception is not null)
            line.AppendLine().Append("  ").Append(exception.ReplaceLineEndings("\n  "));
        return line.ToString();
    }

    private string Json(LogLevel level, string category, EventId id, string message, string? exception)
    {
        var buffer = new ArrayBufferWriter<byte>(256);
        using (var writer = new Utf8JsonWriter(buffer))
        {
            writer.WriteStartObject();
            writer.WriteString("time", Now());
            writer.WriteString("level", LevelName(level));
            writer.WriteString("source", category);
            writer.WriteNumber("event", id.Id);
            writer.WriteString("message", message);
            if (exception is not null)
                writer.WriteString("exception", exception);
            writer.WriteEndObject();
        }

        return Encoding.UTF8.GetString(buffer.WrittenSpan);
    }

    private static string LevelName(LogLevel level) => level switch
    {
        LogLevel.Trace => "trace",
        LogLevel.Debug => "debug",
        LogLevel.Information => "info",
        LogLevel.Warning => "warn",
        LogLevel.Error => "error",
        _ => "fatal",
    };
}
