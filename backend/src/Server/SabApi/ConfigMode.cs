using System.Globalization;
using Sluice.Server.Queue;

namespace Sluice.Server.SabApi;

/// <summary><c>mode=config</c>: pauses the queue for some time and sets the speed limit. This API changes no other settings.</summary>
internal sealed class ConfigMode(QueuePause pause, SpeedLimitMode speed) : ISabMode
{
    public string Name => "config";

    public Task AnswerAsync(SabCall call) => call.Parameters.Text("name") switch
    {
        "set_pause" => PauseAsync(call),
        "speedlimit" => speed.AnswerAsync(call),
        _ => SabAnswer.ErrorAsync(call, SabTexts.ConfigLocked),
    };

    /// <summary>Pauses for a number of minutes. If the number is not positive, resumes.</summary>
    private async Task PauseAsync(SabCall call)
    {
        var text = call.Parameters.Text("value");
        var minutes = 0L;
        if (text.Length > 0 && !long.TryParse(text, NumberStyles.Integer, CultureInfo.InvariantCulture, out minutes))
        {
            await SabAnswer.ErrorAsync(call, SabTexts.IntegerValue);
            return;
        }

        await SabAnswer.PauseAsync(call, minutes > 0
            ? pause.PauseAsync(TimeSpan.FromMinutes(Math.Min(minutes, (long)QueuePause.Longest.TotalMinutes)), call.Cancelled)
            : pause.ResumeAsync(call.Cancelled));
    }
}
