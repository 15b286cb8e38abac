using Sluice.Server.Diagnostics;

namespace Sluice.Server.SabApi;

/// <summary><c>mode=warnings</c>: lists or clears recent warnings (SAB-46).</summary>
internal sealed class WarningsMode(RecentWarnings warnings) : ISabMode
{
    public string Name => "warnings";

    public Task AnswerAsync(SabCall call)
    {
        if (call.Parameters.Text("name") != "clear")
            return SabAnswer.WriteAsync(call, to => Write(to, warnings));
        warnings.Clear();
        return SabAnswer.StatusAsync(call, true);
    }

    public static void Write(ISabWriter to, RecentWarnings warnings)
    {
        to.BeginList("warnings");
        foreach (var warning in warnings.Lines)
        {
            to.BeginObject();
            to.Field("type", warning.Level == LogLevel.Warning ? "WARNING" : "ERROR");
            to.Field("text", warning.Text);
            to.Field("time", warning.At.ToUnixTimeSeconds());
            to.Field("origin", warning.Origin);
            to.EndObject();
        }

        to.EndList();
    }
}
